package framework

import (
	"context"

	"github.com/zkrecipes/zkrecipes/internal/kit/bridge"
	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// listBehind carries out a create, with a listing behind it if there is room for one,
// and leaves nothing running.
func (p *protected) listBehind(ctx context.Context, o *createOptions, listing *bridge.Listing, create func() (Created, error)) (Created, error) {
	if listing == nil {
		return create()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var sent, listed signal.Signal
	var children []string
	var failed error
	o.onSent = sent.Give
	go func() {
		defer listed.Give()
		select {
		case <-sent.Done():
			children, _, failed = p.client.Children(ctx, p.parent)
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
		listing.Children, listing.Err = children, failed
	}
	return made, err
}
