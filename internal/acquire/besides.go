package acquire

import (
	"context"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
)

type besidesKey struct{}

// Besides returns a context whose acquires also end, with framework.ErrClosed, when
// Close of one of these clients begins. Each has a lock that goes with what is
// acquired: it cannot be had any more, so the wait for the others is in vain.
func Besides(ctx context.Context, clients []*framework.Client) context.Context {
	return context.WithValue(ctx, besidesKey{}, clients)
}

// listenBesides has the wait end when Close of one of the clients of Besides begins. It
// returns what ends that, nil if there are none.
func (w *wait) listenBesides(ctx context.Context) (over func()) {
	clients, _ := ctx.Value(besidesKey{}).([]*framework.Client)
	if len(clients) == 0 {
		return nil
	}
	listeners := make([]kit.CloseListener, len(clients))
	for i, c := range clients {
		listeners[i].Closes = func(cause error) { w.cancel(fmt.Errorf("another client of the same locks: %w", cause)) }
		kit.Of(c).OnClose(&listeners[i])
	}
	return func() {
		for i, c := range clients {
			kit.Of(c).OffClose(&listeners[i])
		}
	}
}
