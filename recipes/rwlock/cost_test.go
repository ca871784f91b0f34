package rwlock_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

type counts = map[zktest.Op]int

func TestCostOfFreeLock(t *testing.T) {
	for _, side := range "RW" {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a := w.Client("a")
			warm(w, a)
			var held *lease.Lease
			acquiring := w.Requests(func() { held = w.Acquire(sideOf(t, a, side)) })
			require.Equal(t, counts{zktest.OpCreate: 1, zktest.OpGetChildren2: 1}, acquiring)
			require.Equal(t, counts{zktest.OpDelete: 1}, w.Requests(func() { require.NoError(t, held.Release()) }))
		})
	}
}

func TestCostOfDowngrade(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		held := w.Acquire(l.Write())
		w.After(100 * time.Millisecond)
		var reading *lease.Lease
		require.Equal(t, counts{zktest.OpCreate: 1, zktest.OpGetChildren2: 1, zktest.OpDelete: 1}, w.Requests(func() {
			reading = downgrade(t, l, held)
		}))
		require.Empty(t, w.Requests(func() {
			again, err := l.Read().Acquire(reading.Context(), 0)
			require.NoError(t, err)
			require.NoError(t, again.Release())
		}), "re-entering")
		require.NoError(t, reading.Release())
	})
}

// The end of a writer wakes the readers that it admits, and no others. None of them
// sends a request.
func TestWriterWakesOnlyTheReadersThatItAdmits_CuratorR8(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		first := w.Acquire(newLock(t, w.Client("first")).Write())
		attempts := enqueue(w, "RRRRRRRRWRRRRWR")
		w.After(100 * time.Millisecond)
		release := func(l *lease.Lease, granted string) (cost counts, woken int) {
			woken = w.Events("", func() { cost = w.Requests(func() { require.NoError(t, l.Release()) }) })
			require.Equal(t, granted, state(attempts))
			return cost, woken
		}
		cost, woken := release(first, "HHHHHHHHwwwwwww")
		require.Equal(t, counts{zktest.OpDelete: 1}, cost, "no reader sends a request")
		require.Equal(t, 9, woken, "eight readers, and the holder's own")
		w.After(100 * time.Millisecond) // they set watches on their own nodes

		// Readers that are not the last two ahead of the writer wake no client.
		for i, at := range attempts[:7] {
			cost, woken = release(at.Lease, strings.Repeat(".", i+1)+strings.Repeat("H", 7-i)+"wwwwwww")
			if i < 6 {
				require.Equal(t, counts{zktest.OpDelete: 1}, cost)
				require.Equal(t, 1, woken, "the holder's own")
				continue
			}
			// It finds out now whether those ahead of the last one have left as well.
			require.Equal(t, counts{zktest.OpDelete: 1, zktest.OpGetData: 7}, cost)
			require.Equal(t, 2, woken)
		}
		cost, woken = release(attempts[7].Lease, "........Hwwwwww")
		require.Equal(t, 2, woken)
		require.Equal(t, counts{zktest.OpDelete: 1, zktest.OpGetChildren2: 1}, cost, "a writer was ahead: it may have become a reader")
		w.After(100 * time.Millisecond)

		cost, woken = release(attempts[8].Lease, ".........HHHHww")
		require.Equal(t, 5, woken, "four readers, and the holder's own")
		require.Equal(t, counts{zktest.OpDelete: 1, zktest.OpGetData: 4}, cost, "each finds out whether the first writer has left")
		for _, at := range attempts[9:] {
			require.NoError(t, at.Granted().Release())
		}
	})
}

// The end of a writer wakes no reader behind the second one.
func TestReaderWaitsForTheNearestWriter_Kazoo2(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		attempts := enqueue(w, "WWWRRRR")
		w.After(100 * time.Millisecond)
		for i, at := range attempts[:3] {
			woken := w.Events("", func() { require.NoError(t, at.Granted().Release()) })
			if i < 2 {
				require.LessOrEqual(t, woken, 3, "the next writer, one that looks ahead, and the holder's own")
			}
		}
		require.Equal(t, "...HHHH", state(attempts))
		for _, at := range attempts[3:] {
			require.NoError(t, at.Lease.Release())
		}
	})
}

// A writer behind a writer lists the queue once: the other may have become a reader.
func TestCostOfHandOverBetweenWriters(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		attempts := enqueue(w, "WWWW")
		w.After(100 * time.Millisecond)
		for i, at := range attempts[:3] {
			require.Equal(t, counts{zktest.OpDelete: 1, zktest.OpGetChildren2: 1}, w.Requests(func() {
				require.NoError(t, at.Lease.Release())
				attempts[i+1].Granted()
			}))
			w.After(100 * time.Millisecond)
		}
		require.NoError(t, attempts[3].Lease.Release())
	})
}

// Waiting readers are not woken by other readers.
func TestReadersDoNotWakeReaders(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		attempts := enqueue(w, "RRWRRRR")
		w.After(100 * time.Millisecond)
		require.Equal(t, counts{zktest.OpDelete: 1}, w.Requests(func() { require.NoError(t, attempts[0].Lease.Release()) }))
		require.Equal(t, counts{zktest.OpDelete: 1}, w.Requests(func() {
			attempts[4].Cancel(nil)
			require.Error(t, attempts[4].Failed())
		}))
		idle := w.Requests(func() { w.After(time.Minute) })
		require.LessOrEqual(t, idle[zktest.OpExists], 9*conformance.LooksAgain(time.Minute), "slow second looks: one of the holder, and two of each of four")
		require.LessOrEqual(t, idle[zktest.OpGetChildren2], 4*conformance.LooksAgain(time.Minute), "of four that wait")
		delete(idle, zktest.OpGetChildren2)
		delete(idle, zktest.OpExists)
		// The cancelled waiter has left a watch.
		require.Equal(t, counts{zktest.OpMulti: conformance.Vouched(time.Minute), zktest.OpRemoveWatches: 1},
			idle, "it is waited without a request; the holder is vouched for")
		require.NoError(t, attempts[1].Lease.Release())
		require.NoError(t, attempts[2].Granted().Release())
		for _, i := range []int{3, 5, 6} {
			require.NoError(t, attempts[i].Granted().Release())
		}
	})
}

// A request for revocation does not make all waiters list the queue.
func TestCostOfRevocationRequest(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		attempts := enqueue(w, "WRRRRRW")
		operator := w.Client("operator")
		w.After(100 * time.Millisecond)
		writing := attempts[0].Lease
		for _, target := range []string{writing.Path(), writing.Path()} {
			asking := w.Requests(func() { require.NoError(t, lease.RequestRevocation(t.Context(), operator, target)) })
			require.Zero(t, asking[zktest.OpGetChildren2], "%v", asking)
			require.LessOrEqual(t, asking[zktest.OpGetData], 7, "the operator, the writer and five readers")
		}
		<-writing.RevocationRequested()
		require.Equal(t, "Hwwwwww", state(attempts))
		require.NoError(t, writing.Release())
		w.Settle()
		require.Equal(t, ".HHHHHw", state(attempts))
		// A waiter can get a request, too.
		list, err := newLock(t, operator).Contenders(t.Context())
		require.NoError(t, err)
		require.NoError(t, lease.RequestRevocation(t.Context(), operator, list[5].Path))
		for _, at := range attempts[1:6] {
			require.NoError(t, at.Lease.Release())
		}
		got := attempts[6].Granted()
		w.After(100 * time.Millisecond)
		<-got.RevocationRequested()
		require.NoError(t, got.Release())
	})
}

// A downgraded reader gets requests on its own node.
func TestRevocationRequestToADowngradedReader(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		reading := downgrade(t, l, w.Acquire(l.Write()))
		w.After(100 * time.Millisecond)
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Client("operator"), reading.Path()))
		<-reading.RevocationRequested()
		require.NoError(t, reading.Release())
	})
}

// If readers of one session have waited so long that a quorum has to vouch for them,
// one transaction does so for all that are admitted together.
func TestReadersAdmittedTogetherAreVouchedForOnce(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		writing := w.Acquire(newLock(t, w.Client("writer")).Write())
		readers := newLock(t, w.Client("readers")).Read()
		var attempts []*conformance.Attempt
		for range 20 {
			attempts = append(attempts, w.Start(readers, lease.Forever))
		}
		w.After(time.Minute)
		cost := w.Requests(func() {
			require.NoError(t, writing.Release())
			for _, at := range attempts {
				at.Granted()
			}
		})
		require.Equal(t, 1, cost[zktest.OpMulti])
		for _, at := range attempts {
			require.NoError(t, at.Lease.Release())
		}
	})
}
