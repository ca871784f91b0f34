package conformance_test

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

type world = conformance.World

type maker = func(c *framework.Client, path string) lease.Acquirer

const at = "/priced"

// soon is longer than a hold or a waiter does without a watch, and too short for what
// is done again and again.
const soon = 20 * time.Millisecond

// A price is what something costs the servers.
type price struct {
	requests     map[zktest.Op]int
	transactions int64
}

// pay measures what f costs, without syncs.
func pay(w *world, f func()) price {
	w.Settle()
	before := w.Server.Zxid()
	requests := w.Requests(f)
	return price{requests, w.Server.Zxid() - before}
}

// known returns what a client acquires on a path that it has used.
func known(w *world, make maker, client string) lease.Acquirer {
	a := make(w.Client(client), at)
	give(w, w.Acquire(a))
	return a
}

// free acquires and releases what is free.
func free(make maker) func(w *world) price {
	return func(w *world) price {
		a := known(w, make, "a")
		return pay(w, func() { give(w, w.Acquire(a)) })
	}
}

// freeAsync does not wait for the answer to the release.
func freeAsync(make maker) func(w *world) price {
	return func(w *world) price {
		a := known(w, make, "a")
		return pay(w, func() { require.NoError(w.T, w.Acquire(a).ReleaseAsync()) })
	}
}

// held keeps it long enough to watch it.
func held(make maker) func(w *world) price {
	return func(w *world) price {
		a := known(w, make, "a")
		return pay(w, func() {
			l := w.Acquire(a)
			w.After(soon)
			give(w, l)
		})
	}
}

// again enters once more what is held.
func again(make maker) func(w *world) price {
	return func(w *world) price {
		a := make(w.Client("a"), at)
		l := w.Acquire(a)
		p := pay(w, func() { give(w, w.StartWith(l.Context(), a, lease.Forever).Granted()) })
		give(w, l)
		return p
	}
}

func give(w *world, leases ...*lease.Lease) {
	w.T.Helper()
	for _, l := range leases {
		require.NoError(w.T, l.Release())
	}
}

// first acquires and releases on a path that does not exist.
func first(make maker) func(w *world) price {
	return func(w *world) price {
		c := w.Client("a")
		give(w, w.Acquire(make(c, at+"/other")))
		return pay(w, func() { give(w, w.Acquire(make(c, at+"/new"))) })
	}
}

// anew acquires and releases on a known path for the first time with a value.
func anew(make maker) func(w *world) price {
	return func(w *world) price {
		known(w, make, "a")
		return pay(w, func() { give(w, w.Acquire(make(w.Known("a"), at))) })
	}
}

// downgrade acquires a read lock with a write lock, and releases both.
func downgrade(w *world) price {
	l := lock(w.Client("a"), at)
	writer := w.Acquire(l.Write())
	return pay(w, func() { give(w, w.StartWith(writer.Context(), l.Read(), lease.Forever).Granted(), writer) })
}

// A crowd waits behind a holder.
type crowd struct {
	held    []*lease.Lease
	waiting []*conformance.Attempt
}

// gather has some clients hold all there is, and then wait one behind the other. They
// take turns.
func gather(w *world, make maker, slots, waiters int, clients ...string) *crowd {
	q := new(crowd)
	for range slots {
		q.held = append(q.held, w.Acquire(make(w.Named(clients[0]), at)))
	}
	for i := range waiters {
		q.waiting = append(q.waiting, w.Start(make(w.Named(clients[(i+1)%len(clients)]), at), lease.Forever))
		w.After(soon)
	}
	return q
}

// end grants all that wait.
func (q *crowd) end(w *world) {
	give(w, q.held...)
	for _, at := range q.waiting {
		give(w, at.Granted())
	}
}

// join is what it costs to join a queue in which others wait, until nothing happens any
// more.
func join(make maker, slots int, clients ...string) func(w *world) price {
	return func(w *world) price {
		newcomer := make(w.Named(clients[len(clients)-1]), at)
		give(w, w.Acquire(newcomer))
		q := gather(w, make, slots, 4, clients...)
		p := pay(w, func() {
			q.waiting = append(q.waiting, w.Start(newcomer, lease.Forever))
			w.After(soon)
		})
		q.end(w)
		return p
	}
}

// handOver is what it costs that one is released and the next in the queue is granted,
// when all have waited for so long.
func handOver(make maker, slots int, waited time.Duration, clients ...string) func(w *world) price {
	return func(w *world) price {
		q := gather(w, make, slots, 6, clients...)
		w.After(waited)
		next := func() {
			give(w, q.held[0])
			q.held, q.waiting = append(q.held[1:], q.waiting[0].Granted()), q.waiting[1:]
			w.After(soon)
		}
		next() // the first ones differ: what comes later is the rule
		next()
		p := pay(w, next)
		q.end(w)
		return p
	}
}

// try is an Acquire with timeout 0 that fails.
func try(make maker, slots int) func(w *world) price {
	return func(w *world) price {
		a := known(w, make, "b")
		q := gather(w, make, slots, 3, "a")
		p := pay(w, func() { require.ErrorIs(w.T, w.Start(a, 0).Failed(), lease.ErrTimeout) })
		q.end(w)
		return p
	}
}

// tryFree is one that succeeds.
func tryFree(make maker) func(w *world) price {
	return func(w *world) price {
		a := known(w, make, "a")
		return pay(w, func() { give(w, w.Start(a, 0).Granted()) })
	}
}

// cancelled is a wait that is given up, from its start to the end.
func cancelled(make maker, slots int) func(w *world) price {
	return func(w *world) price {
		b := known(w, make, "b")
		q := gather(w, make, slots, 3, "a")
		p := pay(w, func() {
			waits := w.Start(b, lease.Forever)
			w.After(soon)
			waits.Cancel(nil)
			require.Error(w.T, waits.Failed())
		})
		q.end(w)
		return p
	}
}
