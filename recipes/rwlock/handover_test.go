package rwlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A writer whose downgrade is complete keeps its slot until its node is deleted: the
// next writer of the session has to see the reader's node.
func TestWriterThatHasDowngradedIsNotHandedOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		referee := &conformance.Referee{Shares: shares}
		writing := w.Acquire(l.Write())
		referee.Grant("a", writing)
		next := w.Start(l.Write(), lease.Forever)
		w.After(100 * time.Millisecond)
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		referee.Grant("a", reading)
		for _, held := range []*lease.Lease{writing, reading} {
			w.Server.On(zktest.OpDelete, held.Path()).Client("a").Delay(500 * time.Millisecond)
			freed := make(chan error, 1)
			go func() { freed <- held.Release() }()
			for range 40 {
				w.After(10 * time.Millisecond)
				require.True(t, next.Waiting())
			}
			require.NoError(t, <-freed)
		}
		referee.Grant("next", next.Granted())
		require.NoError(t, next.Lease.Release())
		require.Empty(t, referee.Faults())
	})
}

// A downgrade that failed, or was given up, bars the hand-over as well: its node may
// still come.
func TestWriterThatHasTriedToDowngradeIsNotHandedOver(t *testing.T) {
	late := func(r *zktest.Rule) { r.Before().Delay(500 * time.Millisecond) }
	striking(t, true, late, 100*time.Millisecond, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
		require.ErrorIs(t, down.Failed(), lease.ErrTimeout)
		w.After(time.Second)
		require.Len(t, children(w), 1)
		next := w.Start(newLock(t, w.Known("a")).Write(), lease.Forever)
		w.After(100 * time.Millisecond)
		w.Server.On(zktest.OpDelete, writing.Path()).Client("a").Delay(500 * time.Millisecond)
		freed := make(chan error, 1)
		go func() { freed <- writing.Release() }()
		w.After(400 * time.Millisecond)
		require.True(t, next.Waiting())
		require.NoError(t, <-freed)
		require.NoError(t, next.Granted().Release())
	})
}

// The write lease is released while its downgrade is under way. Whether that succeeds
// or not, the next writer of the session is never admitted beside a reader.
func TestReleaseDuringADowngradeHandsNothingOver(t *testing.T) {
	for name, strike := range map[string]func(r *zktest.Rule){
		"request late": func(r *zktest.Rule) { r.Before().Delay(500 * time.Millisecond) },
		"reply late":   func(r *zktest.Rule) { r.After().Delay(500 * time.Millisecond) },
		"request lost": func(r *zktest.Rule) { r.Before().Cut() },
		"reply lost":   func(r *zktest.Rule) { r.After().Cut() },
		"muted":        func(r *zktest.Rule) { r.After().Mute() },
	} {
		t.Run(name, func(t *testing.T) {
			striking(t, false, strike, lease.Forever, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
				next := w.Start(newLock(t, w.Known("a")).Write(), lease.Forever)
				other := w.Start(newLock(t, w.Known("b")).Write(), lease.Forever)
				releaseBesideADowngrade(t, w, writing, down, next, other)
			})
		})
	}
}

// releaseBesideADowngrade releases the write lease, and all that is granted then, with
// a referee.
func releaseBesideADowngrade(t *testing.T, w *conformance.World, writing *lease.Lease, waiting ...*conformance.Attempt) {
	t.Helper()
	referee := &conformance.Referee{Shares: shares}
	referee.Grant("a", writing)
	freed := make(chan error, 1)
	go func() { freed <- writing.Release() }()
	held, granted := map[*conformance.Attempt]time.Time{}, 0
	for granted < len(waiting) {
		w.After(time.Millisecond)
		for i, at := range waiting {
			if since, known := held[at]; at.Waiting() || known && time.Since(since) < 300*time.Millisecond {
				continue
			} else if !known {
				referee.Grant([]string{"a", "next", "other"}[i], at.Granted())
				held[at] = time.Now()
			} else if at.Lease.Err() == nil {
				require.NoError(t, at.Lease.Release())
				granted++
			}
		}
		referee.Look()
	}
	require.NoError(t, <-freed)
	require.Empty(t, referee.Faults())
}

// A downgrade begins at the moment of the release, in any order.
func TestDowngradeAtTheMomentOfARelease(t *testing.T) {
	for i := range 60 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			l := newLock(t, w.Client("a"))
			writing := w.Acquire(l.Write())
			next := w.Start(l.Write(), lease.Forever)
			other := w.Start(newLock(t, w.Client("b")).Write(), lease.Forever)
			w.After(100 * time.Millisecond)
			owning := context.WithoutCancel(writing.Context())
			if i%3 == 0 {
				w.Server.On(zktest.OpDelete, path).Client("a").Delay(500 * time.Millisecond)
			}
			down := w.Begin(owning, l.Read(), lease.Forever)
			releaseBesideADowngrade(t, w, writing, down, next, other)
			w.After(time.Second)
			require.Empty(t, children(w))
		})
	}
}

// Readers behind a writer of their session get the lock at once; those of another
// session, and the next writer, do not.
func TestReadersBehindAWriterOfTheirSession(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		readers := []*conformance.Attempt{w.Start(l.Read(), lease.Forever), w.Start(l.Read(), lease.Forever)}
		other := w.Start(newLock(t, w.Client("b")).Read(), lease.Forever)
		writer := w.Start(l.Write(), lease.Forever)
		w.After(100 * time.Millisecond)
		w.Server.On(zktest.OpDelete, path).Client("a").Delay(500 * time.Millisecond)
		freed := make(chan error, 1)
		go func() { freed <- writing.Release() }()
		w.Settle()
		for _, at := range readers {
			require.False(t, at.Waiting())
			require.NoError(t, at.Granted().Err())
		}
		require.True(t, other.Waiting())
		require.NoError(t, <-freed)
		require.NoError(t, other.Granted().Release())
		for _, at := range readers {
			require.True(t, writer.Waiting())
			require.NoError(t, at.Lease.Release())
		}
		require.NoError(t, writer.Granted().Release())
	})
}

// The next writer waits for the deletion of the node of each reader of its session.
func TestReadersAreNotHandedOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		first, second := w.Acquire(l.Read()), w.Acquire(l.Read())
		writer := w.Start(l.Write(), lease.Forever)
		w.After(100 * time.Millisecond)
		for _, held := range []*lease.Lease{second, first} {
			w.Server.On(zktest.OpDelete, held.Path()).Client("a").Delay(500 * time.Millisecond)
			freed := make(chan error, 1)
			go func() { freed <- held.Release() }()
			w.After(400 * time.Millisecond)
			require.True(t, writer.Waiting())
			require.NoError(t, <-freed)
		}
		require.NoError(t, writer.Granted().Release())
	})
}
