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
	var children []string
	var listingErr error
	sent, listed := signal.New(), signal.New()
	o.onSent = sent.Give
	go func() {
		defer listed.Give()
		select {
		case <-sent.Done():
			children, _, listingErr = p.client.Children(ctx, p.parent)
		case <-ctx.Done():
		}
	}()
	made, err := create()
	if err != nil {
		cancel()
	}
	sent.Give() // a node that was found again was never seen being sent
	<-listed.Done()
	if err == nil {
		made.Children, made.ListingErr = children, listingErr
	}
	return made, err
}
