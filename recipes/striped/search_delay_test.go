package striped_test

import (
	gopath "path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// holdAll has a client hold all stripes of three, and has a call of another client wait
// for so long that looks for a free share have become rare. It returns the leases, and
// the stripe where the call waits.
func holdAll(t *testing.T, w *conformance.World, a, b anyOf) (held []*lease.Lease, waits int, waiting *conformance.Attempt) {
	t.Helper()
	for i := range 3 {
		held = append(held, w.Acquire(b.For(keyAt(t, b.Locks, i, b.Locks, i))))
	}
	waiting = w.Start(a, lease.Forever)
	w.After(5 * time.Minute)
	for i := range 3 {
		if len(w.Ephemerals(b.Path(i)+"/")) == 2 {
			waits = i
		}
	}
	return held, waits, waiting
}

// afterALook waits until the calls of client a have just looked at a stripe, where none
// of them waits, in vain.
func afterALook(w *conformance.World, stripe string) {
	looks := func() (n int) {
		for _, e := range w.Server.Trace() {
			if e.Client == "a" && e.Op == zktest.OpGetChildren2 && e.Path == stripe && e.Phase == zktest.PhaseAfterApply {
				n++
			}
		}
		return n
	}
	for before := looks(); looks() == before; {
		w.After(10 * time.Millisecond)
	}
}

// A new call looks for a free share soon, also if another one has waited for long.
func TestNewCallBesideOneThatHasWaitedForLong(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := anyStripe(newLocks(t, w.Client("a"), 3)), anyStripe(newLocks(t, w.Client("b"), 3))
		held, waits, waiting := holdAll(t, w, a, b)
		began := time.Now()
		call := w.Start(a, lease.Forever)
		free := 3 - waits
		for i := range 3 { // the one where no call waits
			if len(w.Ephemerals(b.Path(i)+"/")) == 1 {
				free = i
			}
		}
		afterALook(w, b.Path(free))
		require.NoError(t, held[free].Release())
		w.After(time.Second)
		soon := !call.Waiting() || !waiting.Waiting()
		for i, l := range held {
			if i != free {
				require.NoError(t, l.Release())
			}
		}
		require.NoError(t, call.Granted().Release())
		require.NoError(t, waiting.Granted().Release())
		require.True(t, soon, "a share was free for more than a second while a call waited that came %v ago", time.Since(began))
	})
}

// A share that a lease of the same value leaves is known to be free.
func TestShareThatIsLeftByTheSameValue(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := anyStripe(newLocks(t, w.Client("a"), 3)), anyStripe(newLocks(t, w.Client("b"), 3))
		held, waits, waiting := holdAll(t, w, a, b)
		own := w.Start(a, lease.Forever)
		for i, l := range held {
			if i != waits {
				require.NoError(t, l.Release())
			}
		}
		w.After(15 * time.Second)
		// By now both are granted, as two shares were free.
		require.NoError(t, waiting.Granted().Release())
		require.NoError(t, own.Granted().Release())

		others := anyStripe(b.Locks)
		taken := w.Acquire(others) // one of the two again
		mine := w.Acquire(a)       // and the other
		again := w.Start(a, lease.Forever)
		w.After(5 * time.Minute)
		require.True(t, again.Waiting())
		looked := gopath.Dir(taken.Path())
		if len(w.Ephemerals(looked+"/")) == 2 { // it waits there
			looked = b.Path(waits)
		}
		afterALook(w, looked)
		require.NoError(t, mine.Release())
		w.After(time.Second)
		soon := !again.Waiting()
		require.NoError(t, taken.Release())
		require.NoError(t, held[waits].Release())
		require.NoError(t, again.Granted().Release())
		require.True(t, soon, "a share that was left by the same value was free for more than a second")
	})
}
