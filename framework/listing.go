package framework

import (
	"context"

	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// WithListing makes CreateProtected list the parent's children behind the create, over
// the same connection, so that the listing costs no round trip of its own. What it says
// is in Created.Children. Create refuses it with ErrInvalidArgument.
func WithListing() CreateOption { return func(o *createOptions) { o.listing = true } }

// listBehind carries out a create, with the listing behind it if o asks for one, and
// leaves nothing running.
func (p *protected) listBehind(ctx context.Context, o *createOptions, create func() (Created, error)) (Created, error) {
	if !o.listing {
		return create()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var l struct {
		sent, listed signal.Signal
		children     []string
		err          error
	}
	o.onSent = l.sent.Give
	go func() {
		defer l.listed.Give()
		select {
		case <-l.sent.Done():
			l.children, _, l.err = p.client.Children(ctx, p.parent)
		case <-ctx.Done():
		}
	}()
	made, err := create()
	if err != nil {
		cancel()
	}
	l.sent.Give() // a node that was found again was never seen being sent
	<-l.listed.Done()
	if err == nil {
		made.Children, made.ListingErr = l.children, l.err
	}
	return made, err
}
