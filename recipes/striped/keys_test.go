package striped_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// The stripe of a key never changes: other programs, and other languages, rely on it.
// The numbers are those of: printf %s KEY | sha256sum, the first 16 digits modulo n.
func TestStripeOfAKey(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for key, want := range map[string][2]int{"": {4, 652}, "a": {10, 250}, "4711": {10, 810}, "Zürich": {5, 653}, "../../etc": {1, 161}} {
			require.Equal(t, want, [2]int{newLocks(t, c, 16).Index(key), newLocks(t, c, 1000).Index(key)}, key)
		}
	})
}

// Keys that differ little do not gather at one stripe.
func TestKeysAreSpread(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		for _, n := range []int{2, 16, 100, striped.MaxStripes} {
			l := newLocks(t, w.Named("a"), n)
			for _, format := range []string{"%d", "user-%06d", "%x0"} {
				keys := 100 * n
				counts := make([]int, n)
				for i := range keys {
					counts[l.Index(fmt.Sprintf(format, i))]++
				}
				for stripe, count := range counts {
					require.InDelta(t, 100, count, 60, "stripe %d of %d, keys %s", stripe, n, format)
				}
			}
		}
	})
}

// Equal keys exclude each other, those of different stripes do not, whatever is in
// them.
func TestKeysExcludeEachOther(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newLocks(t, w.Client("a"), 64), newLocks(t, w.Client("b"), 64)
		for _, key := range []string{"", "/", "..", "a/b", "\x00", "\xff", strings.Repeat("long", 1<<18), "_c_lock-0000000000"} {
			other := key + "'"
			require.NotEqual(t, a.Index(key), a.Index(other), "choose another key for the test")
			held := w.Acquire(a.For(key))
			require.Equal(t, a.Path(a.Index(key)), held.Path()[:strings.LastIndex(held.Path(), "/")])
			require.ErrorIs(t, w.Start(b.For(key), 0).Failed(), lease.ErrTimeout)
			at := w.Start(b.For(key), lease.Forever)
			release(w, w.Start(b.For(other), 0).Granted())
			release(w, held)
			release(w, at.Granted())
		}
		children := w.Server.Children(path)
		require.LessOrEqual(t, len(children), 16)
		for _, child := range children {
			require.Regexp(t, `^stripe-00[0-9][0-9]$`, child)
		}
	})
}

// Two keys of one stripe are one lock: its context re-enters it.
func TestKeysOfOneStripe(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLocks(t, w.Client("a"), 2)
		keys := [2][]string{}
		for i := range 10 {
			key := fmt.Sprint(i)
			keys[l.Index(key)] = append(keys[l.Index(key)], key)
		}
		same, other := keys[0][:2], keys[1][0]
		held := w.Acquire(l.For(same[0]))
		require.ErrorIs(t, w.Start(l.For(same[1]), 0).Failed(), lease.ErrTimeout)
		inner := w.StartWith(held.Context(), l.For(same[1]), 0).Granted()
		require.Equal(t, held.Token(), inner.Token())
		apart := w.StartWith(held.Context(), l.For(other), 0).Granted()
		require.NotEqual(t, held.Token(), apart.Token())
		release(w, apart, inner, held)
	})
}

// All keys of a transfer are locked together, also if some have one stripe, and those
// who name them in another order do not block it.
func TestSeveralKeysTogether(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		several := func(c *framework.Client, keys ...string) lease.Acquirer {
			l, err := multilock.New(newLocks(t, c, 4).ForAll(keys...))
			require.NoError(t, err)
			return l
		}
		c := w.Client("a")
		keys := []string{"a", "b", "c", "d", "e", "f", "g", "a"}
		stripes := map[int]bool{}
		for _, key := range keys {
			stripes[newLocks(t, c, 4).Index(key)] = true
		}
		require.Greater(t, len(keys), len(stripes)+1, "some share a stripe")
		require.Len(t, newLocks(t, c, 4).ForAll(keys...), len(stripes))
		require.Empty(t, newLocks(t, c, 4).ForAll())
		held := w.Acquire(several(c, keys...))
		require.Len(t, held.Tokens(), len(stripes))
		backwards := w.Start(several(w.Client("b"), "g", "f", "e", "d", "c", "b", "a"), lease.Forever)
		one := w.Start(newLocks(t, w.Client("c"), 4).For("b"), 0)
		require.ErrorIs(t, one.Failed(), lease.ErrTimeout)
		forwards := w.Start(several(w.Client("d"), keys...), lease.Forever)
		release(w, held)
		for range 2 {
			select {
			case <-backwards.Done():
				release(w, backwards.Granted())
				backwards = forwards
			case <-forwards.Done():
				release(w, forwards.Granted())
				forwards = backwards
			}
			w.Settle()
		}
		leavesNothing(w)
	})
}

func TestNumberOfStripesIsChecked(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for _, n := range []int{-1, 0, striped.MaxStripes + 1} {
			_, err := striped.New(c, path, n)
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
			require.ErrorContains(t, err, fmt.Sprint(n, " stripes: give 1 to 1024"))
		}
		for _, bad := range []string{"", "/", "locks", "/locks/", "/x-lock-0000000001"} {
			_, err := striped.New(c, bad, 4)
			require.ErrorIs(t, err, framework.ErrInvalidPath)
		}
		_, err := striped.New(c, path, 4, striped.WithMaxHold(-1))
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
	})
}

func TestOptions(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLocks(t, w.Client("a"), 4, striped.WithHolder("the teller"), striped.WithMaxHold(time.Second))
		for _, a := range []lease.Acquirer{l.For("key"), anyStripe(l)} {
			held := w.Acquire(a)
			late := (*lease.TimeoutError)(nil)
			at := w.StartWith(lease.WithoutOwner(t.Context()), newMutex(t, w.Named("b"), held), 100*time.Millisecond)
			require.ErrorAs(t, at.Failed(), &late)
			require.Equal(t, "the teller", late.Holder.Who)
			w.After(time.Second)
			require.ErrorIs(t, held.Err(), lease.ErrMaxHold)
			require.ErrorIs(t, held.Release(), lease.ErrMaxHold)
		}
	})
}
