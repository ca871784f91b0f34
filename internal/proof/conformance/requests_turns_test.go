package conformance_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// turns is what a cycle costs when twenty clients acquire the same, again and again,
// and hold it for so long.
func turns(of maker, hold time.Duration) func(w *world) price {
	return func(w *world) price {
		const clients = 20
		ctx, stop := context.WithCancel(w.T.Context())
		var cycles atomic.Int64
		ended := make(chan struct{})
		for i := range clients {
			m := of(w.Client(fmt.Sprint(i)), at)
			go func() {
				defer func() { ended <- struct{}{} }()
				for ctx.Err() == nil {
					l, err := m.Acquire(w.T.Context(), lease.Forever)
					if err != nil {
						return
					}
					<-time.After(hold)
					cycles.Add(1)
					_ = l.Release()
				}
			}()
		}
		w.After(2 * clients * hold)
		before := cycles.Load()
		p := pay(w, func() { w.After(conformance.SessionTimeout * 2) })
		count := int(cycles.Load() - before)
		require.Greater(w.T, count, clients)
		stop()
		for range clients {
			<-ended
		}
		return p.each(count)
	}
}

// each is the cost of one of so many.
func (p price) each(count int) price {
	one := price{map[zktest.Op]int{}, (p.transactions + int64(count)/2) / int64(count)}
	for op, n := range p.requests {
		one.requests[op] = (n + count/2) / count
	}
	return one
}

// removed is the first acquire and release after the servers have removed the path,
// because it was empty.
func removed(make maker) func(w *world) price {
	return func(w *world) price {
		a := known(w, make, "a")
		w.After(zktest.DefaultReapInterval * 3 / 2)
		return pay(w, func() { give(w, w.Acquire(a)) })
	}
}
