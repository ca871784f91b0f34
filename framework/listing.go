package framework

import (
	"context"
	"slices"

	"github.com/zkrecipes/zkrecipes/internal/kit/bridge"
	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// CreateListed lists the parent's children behind a protected create.
func (v recipeView) CreateListed(ctx context.Context, path string, data []byte, mode Mode, opts ...CreateOption) (Created, bridge.Listing, error) {
	var l listingBehind
	made, err := v.createProtected(ctx, path, data, mode, opts, &l)
	if err != nil {
		return Created{}, bridge.Listing{}, err
	}
	return made, l.Listing, nil
}

// CreateSent tells when a protected create is sent.
func (v recipeView) CreateSent(ctx context.Context, path string, data []byte, mode Mode, sent func(), opts ...CreateOption) (Created, error) {
	told := func(o *createOptions) { o.onSent = sent }
	return v.createProtected(ctx, path, data, mode, append(slices.Clip(opts), told), nil)
}

// A listingBehind lists children when a create has been sent.
type listingBehind struct {
	bridge.Listing
	sent, listed signal.Signal
}

// listBehind carries out a create with a listing behind it, unless that is nil, and
// leaves nothing running.
func (p *protected) listBehind(ctx context.Context, o *createOptions, l *listingBehind, create func() (Created, error)) (Created, error) {
	if l == nil {
		return create()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.onSent = l.sent.Give
	go func() {
		defer l.listed.Give()
		select {
		case <-l.sent.Done():
			l.Children, _, l.Err = p.client.Children(ctx, p.parent)
		case <-ctx.Done():
		}
	}()
	made, err := create()
	if err != nil {
		cancel()
	}
	l.sent.Give() // a node that was found again was never seen being sent
	<-l.listed.Done()
	return made, err
}
