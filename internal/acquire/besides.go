package acquire

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
)

type besidesKey struct{}

// A beside is one acquire of several slots of these clients.
type beside struct {
	clients []*framework.Client
	over    atomic.Bool
}

// Besides returns a context for one acquire of slots of several clients, and a function
// to call when that has ended. Until then, what is acquired with the context also ends,
// with framework.ErrClosed, when Close of one of the clients begins: each has a lock
// that goes with the others, so the wait for these is in vain. After that it says
// nothing: the contexts of the leases derive from it, and may be used for very long.
func Besides(ctx context.Context, clients []*framework.Client) (_ context.Context, over func()) {
	b := &beside{clients: clients}
	return context.WithValue(ctx, besidesKey{}, b), func() { b.over.Store(true) }
}

// listenBesides has the wait end when Close of one of the other clients of Besides
// begins. It returns what ends that, nil if there are none.
func (w *wait) listenBesides(ctx context.Context) (over func()) {
	b, _ := ctx.Value(besidesKey{}).(*beside)
	if b == nil || b.over.Load() {
		return nil
	}
	listeners := make([]kit.CloseListener, len(b.clients))
	for i, c := range b.clients {
		listeners[i].Closes = func(cause error) { w.cancel(fmt.Errorf("another client of the same locks: %w", cause)) }
		if w.isOther(c) {
			kit.Of(c).OnClose(&listeners[i])
		}
	}
	return func() {
		for i, c := range b.clients {
			if w.isOther(c) {
				kit.Of(c).OffClose(&listeners[i])
			}
		}
	}
}

func (w *wait) isOther(c *framework.Client) bool { return !kit.Of(w.recipe.Client).SameClient(c) }
