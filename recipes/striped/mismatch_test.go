package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// keyAt returns a key that has these stripes with these numbers of them.
func keyAt(t *testing.T, a *striped.Locks, at int, b *striped.Locks, bt int) string {
	t.Helper()
	for key := "a"; len(key) < 1000; key += "a" {
		if a.Index(key) == at && b.Index(key) == bt {
			return key
		}
	}
	t.Fatal("no such key")
	return ""
}

// A context that owns a stripe enters it through no value with another number: what
// that takes for the stripe of a key is not.
func TestReentryWithAnotherNumber(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		old, stored := newLocks(t, a, 2), newLocks(t, a, 3)
		key := keyAt(t, old, 0, stored, 1)
		outer := w.Acquire(stored.For(keyAt(t, stored, 0, stored, 0)))
		theirs := w.Acquire(newLocks(t, b, 3).For(key))
		inner, err := old.For(key).Acquire(outer.Context(), time.Second)
		if err == nil {
			require.True(t, inner.Err() != nil || theirs.Err() != nil, "two leases on %q are valid: %s and %s", key, inner.Path(), theirs.Path())
		}
		require.ErrorIs(t, err, striped.ErrSizeMismatch)
		require.NoError(t, outer.Release())
		require.NoError(t, theirs.Release())
	})
}

// The same with AcquireAny.
func TestReentryOfAnyWithAnotherNumber(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		stored := newLocks(t, a, 3)
		outer := w.Acquire(stored.For(keyAt(t, stored, 0, stored, 0)))
		_, _, err := newLocks(t, a, 2).AcquireAny(outer.Context(), time.Second)
		require.ErrorIs(t, err, striped.ErrSizeMismatch)
		require.NoError(t, outer.Release())
	})
}

// A value that has held stripes before learns at once, too, that the number is another
// one, and not only when a holder with the new number has left.
func TestMismatchIsKnownBeforeTheWait(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		old := newLocks(t, a, 1)
		require.NoError(t, w.Acquire(old.For("key")).Release())
		resized, err := newLocks(t, b, 1).Resize(t.Context(), 3, time.Minute)
		require.NoError(t, err)
		held := w.Acquire(resized.For(keyAt(t, resized, 0, resized, 0)))
		at := w.Start(old.For("key"), time.Minute)
		require.ErrorIs(t, at.Failed(), striped.ErrSizeMismatch)
		require.Less(t, at.Took, time.Second)
		require.NoError(t, held.Release())
	})
}

// A call of AcquireAny that finds out while it looks for another share that the number
// is another one fails with that.
func TestMismatchThatALookFinds(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		old := newLocks(t, a, 4)
		require.NoError(t, w.Acquire(anyStripe(old)).Release())
		resized, err := newLocks(t, b, 4).Resize(t.Context(), 3, time.Minute)
		require.NoError(t, err)
		var held []*lease.Lease
		for i := range 3 {
			held = append(held, w.Acquire(resized.For(keyAt(t, resized, i, resized, i))))
		}
		w.Server.ResetCounts()
		at := w.Start(anyStripe(old), time.Minute)
		require.ErrorIs(t, at.Failed(), striped.ErrSizeMismatch)
		require.Less(t, at.Took, time.Second)
		for _, l := range held {
			require.NoError(t, l.Release())
		}
	})
}
