package mutex_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// The figures of docs/performance.md, "When a holder dies": for how long a lease stays
// valid if only the network has failed, and when the next one is granted, also if the
// holder has died. A server cannot tell one from the other. This one does not round up.
func TestTakeOver(t *testing.T) {
	const T, moments = conformance.SessionTimeout, 24
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		holder := func(i int) string { return fmt.Sprint("holder", i) }
		var sum time.Duration
		next := w.Acquire(newMutex(t, w.Client(holder(0))))
		for i := range moments {
			held := next
			at := w.Start(newMutex(t, w.Client(holder(i+1))), lease.Forever)
			require.True(t, at.Waiting())
			w.After(2*T + T/3*time.Duration(i)/moments) // moments between two pings
			cut := time.Now()
			w.Server.Partition(holder(i), true)
			valid := held.TrustedUntil().Sub(cut)
			next = at.Granted()
			took := time.Since(cut)
			assert.InDelta(t, 0.435, valid.Seconds()/T.Seconds(), 0.11, "how long the lease is valid")
			assert.InDelta(t, 0.96, took.Seconds()/T.Seconds(), 0.045, "when the next one is granted")
			sum += took
		}
		// The last packet is T/29 old on average if the times of all that is sent are
		// left to chance, and T/24 if all is sent together with the syncs, give or take
		// half a step between two moments.
		const chance, together, halfStep = 1. / 29, 1. / 24, 1. / 3 / moments / 2
		assert.InDelta(t, 1-chance, sum.Seconds()/moments/T.Seconds(), together-chance+halfStep, "when the next one is granted, on average")
	})
}
