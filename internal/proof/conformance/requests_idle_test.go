package conformance_test

import (
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// idle is what a client does in a session timeout that holds so many locks, and waits
// so many times for one that another client holds.
func idle(holds, waits int) func(w *world) price {
	return func(w *world) price {
		a, b := w.Client("a"), w.Client("b")
		var held []*lease.Lease
		var waiting []*conformance.Attempt
		for i := range holds {
			held = append(held, w.Acquire(theMutex(a, fmt.Sprint(at, i))))
		}
		other := w.Acquire(theMutex(b, at))
		for range waits {
			waiting = append(waiting, w.Start(theMutex(a, at), lease.Forever))
		}
		w.After(conformance.SessionTimeout)
		p := count(w, "a", 10)
		give(w, append(held, other)...)
		for _, at := range waiting {
			give(w, at.Granted())
		}
		return p
	}
}

// count counts what a client sends in a session timeout, on average over so many of
// them, with syncs and pings.
func count(w *world, client string, timeouts int) price {
	p := price{requests: map[zktest.Op]int{}}
	w.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Client == client && c.Phase == zktest.PhaseBeforeApply {
			p.requests[c.Op]++
		}
		return zktest.Pass
	})
	w.After(time.Duration(timeouts) * conformance.SessionTimeout)
	w.Server.SetFaults(nil)
	for op, n := range p.requests {
		p.requests[op] = rounded(n, timeouts)
	}
	p.transactions = int64(p.requests[zktest.OpMulti])
	return p
}

// rounded is how many there are on average; if there are many, to the next 50. A lock
// that is held is read every 0.75 to 1.25 session timeouts, as its random name says: a
// hundred of them 102 times in one, and hardly ever 5 more or less.
func rounded(n, timeouts int) int {
	average := (n + timeouts/2) / timeouts
	if average < 50 {
		return average
	}
	return (average + 25) / 50 * 50
}
