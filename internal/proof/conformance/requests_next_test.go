package conformance_test

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// makeNext is what it costs that a leader makes a candidate the next one while so many
// are between, each of a client of its own: for it, and for all candidates.
func makeNext(between int) func(w *world) price {
	return func(w *world) price {
		candidate := func(i int) *leader.Election {
			return must(leader.New(w.Client(fmt.Sprint(i)), at, leader.WithID(fmt.Sprint(i))))
		}
		present := candidate(0)
		term := w.Acquire(present)
		var waiting []*conformance.Attempt
		for i := range between + 1 {
			waiting = append(waiting, w.Start(candidate(i+1), lease.Forever))
			w.After(soon)
		}
		for _, op := range []zktest.Op{zktest.OpDelete, zktest.OpSync} { // so that what follows from them is in one order
			w.Server.On(op, at).Before().Always().Delay(5 * time.Millisecond)
		}
		p := pay(w, func() {
			_, err := present.MakeNext(w.T.Context(), fmt.Sprint(between+1))
			require.NoError(w.T, err)
			w.After(soon)
		})
		for _, c := range waiting[:between] { // in any order now
			c.Cancel(nil)
			require.Error(w.T, c.Failed())
		}
		give(w, term)
		give(w, waiting[between].Granted())
		return p
	}
}
