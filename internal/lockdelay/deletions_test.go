package lockdelay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The znode of a lease is deleted, which its holder does not know yet, and the client
// is closed. The release in the grace removes the record of a slot that was lost.
func TestDeletedBeforeCloseIsUnclean(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", func(cfg *framework.Config) { cfg.CloseGrace = time.Minute })
		held := w.Acquire(delayed(t, a))
		w.Remove(w.Client("operator"), held.Path())
		go a.Close()
		<-held.Done()
		err := held.Release()
		t.Log(err)
		w.Settle()
		next := w.Start(delayed(t, w.Client("next")), time.Hour)
		next.Granted()
		require.GreaterOrEqual(t, next.Took, delay, "the slot is granted sooner than the delay after its znode was deleted")
	})
}

// The same, but the next one waits already.
func TestDeletedBeforeCloseWhileOneWaits(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", func(cfg *framework.Config) { cfg.CloseGrace = time.Minute })
		held := w.Acquire(delayed(t, a))
		next := w.Start(delayed(t, w.Client("next")), time.Hour)
		w.After(2 * time.Second)
		w.Server.Partition("a", true) // the event does not arrive
		w.Remove(w.Client("operator"), held.Path())
		w.After(100 * time.Millisecond)
		ended := time.Now()
		go a.Close()
		<-held.Done()
		w.Server.Partition("a", false)
		t.Log(held.Release())
		next.Granted()
		require.GreaterOrEqual(t, time.Since(ended), delay-time.Second)
	})
}

// The same with a minimum hold time: Release deletes the record without a look at the
// znode. Without WithMinHold this Release is an ErrDeleted, and the record stays.
func TestDeletedBeforeARestIsUnclean(t *testing.T) {
	for name, opts := range map[string][]mutex.Option{"min hold": {mutex.WithMinHold(5 * time.Second)}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *conformance.World) {
				held := w.Acquire(delayed(t, w.Client("a"), opts...))
				w.Remove(w.Client("operator"), held.Path())
				t.Log(held.ReleaseAsync())
				w.Settle()
				next := w.Start(delayed(t, w.Client("next")), time.Hour)
				next.Granted()
				require.GreaterOrEqual(t, next.Took, delay, "the slot is granted sooner than the delay after its znode was deleted")
			})
		})
	}
}

// A session has expired, and the holder may not know yet. Release returns an ErrLost,
// and the record stays; or nil, if the connection ends without an answer. It is not
// known then which came first, but the work had ended: that is a clean end.
func TestExpiredBeforeReleaseIsUnclean(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(delayed(t, a))
		w.Expire(a)
		err := held.Release()
		w.After(time.Second)
		if err == nil {
			require.Empty(t, records(w, path), "a clean end delays others")
			return
		}
		require.ErrorIs(t, err, lease.ErrLost)
		require.Len(t, records(w, path), 1, "Release says that the lease was lost, and the record is gone")
	})
}

// The delete of a record at the begin of a rest is not answered, and the session ends
// in the rest. The client lives, but does not delete the record.
func TestSessionEndsInARestIsClean(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(delayed(t, a, mutex.WithMinHold(time.Minute)))
		cut := w.Server.On(zktest.OpDelete, dir).Client("a").Before().Always().Optional()
		cut.Cut()
		require.NoError(t, held.ReleaseAsync())
		w.After(time.Second)
		t.Log("records in the rest", len(records(w, path)))
		w.Expire(a)
		w.After(20 * time.Second)
		require.Empty(t, records(w, path), "a clean end delays others")
	})
}

// A holder ahead releases between the admission and the first listing of the records.
// It is counted until the delay after the end of another one has passed.
func TestReleasedBeforeTheFirstListing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		of := func(name string, n int) lease.Acquirer {
			s, err := semaphore.New(w.Named(name), path, 3, semaphore.WithSingleQueue(), semaphore.WithLockDelay(delay))
			require.NoError(t, err)
			return s.Weight(n)
		}
		n := w.Named("n")
		require.NoError(t, w.Acquire(of("n", 1)).Release())
		a := w.Acquire(of("a", 1))
		w.Acquire(of("b", 1))
		kill(w, "b", w.Named("b"))
		late := w.Server.On(zktest.OpGetChildren2, dir).Client("n").Before().Delay(time.Second)
		next := w.Start(of("n", 2), time.Hour)
		<-late.Fired()
		require.NoError(t, a.Release())
		next.Granted()
		_ = n
		require.Less(t, next.Took, 5*time.Second, "two permits of three are free, beside the one that has ended")
	})
}

// A writer that is lost has become many readers. A reader that waits looks at the same
// ones again and again, and never at the writer.
func TestManyLivingReadersAhead(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		l, err := rwlock.New(w.Client("writer"), path, rwlock.WithLockDelay(delay))
		require.NoError(t, err)
		writing := w.Acquire(l.Write())
		waiting := w.Start(shared(t, w.Client("reader")).Read(), 2*time.Minute)
		require.True(t, waiting.Waiting())
		for range 60 {
			_, err := l.Read().Acquire(writing.Context(), time.Second)
			require.NoError(t, err)
		}
		w.Server.On(zktest.AnyOp, path).Client("reader").Before().Always().Optional().Delay(10 * time.Millisecond)
		w.Server.ResetCounts()
		w.Remove(w.Client("operator"), writing.Path())
		waiting.Granted()
		t.Log(waiting.Took, w.Server.Counts())
		require.InDelta(t, delay, waiting.Took, float64(5*time.Second))
	})
}

// An operator has deleted the node of the delay below a writer.
func TestDowngradeWithoutTheContainer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		l := shared(t, w.Client("writer"))
		writing := w.Acquire(l.Write())
		op := w.Client("operator")
		for _, r := range records(w, path) {
			w.Remove(op, dir+"/"+r)
		}
		w.Remove(op, dir)
		w.Server.On(zktest.AnyOp, path).Client("writer").Before().Always().Optional().Delay(5 * time.Millisecond)
		w.Server.ResetCounts()
		_, err := l.Read().Acquire(writing.Context(), 5*time.Second)
		t.Log(err, w.Server.Counts())
		require.NoError(t, err)
	})
}

// A run that obeys a stored delay: an operator deletes the node of the delay, as is
// documented. The run cannot be recorded any more.
func TestRecordOfARunWithoutTheHoldersRecord(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		j, err := once.New(w.Client("a"), path, once.WithLockDelay(delay))
		require.NoError(t, err)
		run := j.Key("k")
		held, err := run.Acquire(t.Context(), time.Minute)
		require.NoError(t, err)
		queue := held.Path()[:len(path)]
		_ = queue
		op := w.Client("operator")
		parent := held.Path()
		for i := len(parent) - 1; parent[i] != '/'; i-- {
			parent = parent[:i]
		}
		for _, r := range w.Server.Children(parent + "lock-delay") {
			w.Remove(op, parent+"lock-delay/"+r)
		}
		require.NoError(t, run.Record(t.Context(), held))
	})
}

// The time is up while the records are looked at again.
func TestTimeoutWhileTheRecordsAreRead(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		require.NoError(t, w.Acquire(delayed(t, w.Client("next"))).Release())
		w.Acquire(delayed(t, w.Client("a")))
		kill(w, "a", w.Named("a"))
		w.Server.On(zktest.OpGetChildren2, dir).Client("next").Nth(2).Before().Delay(time.Second)
		err := w.Start(delayed(t, w.Client("next")), 500*time.Millisecond).Failed()
		require.ErrorIs(t, err, lease.ErrLockDelay)
	})
}

// A slot is handed over in a session, to a position that has to be recorded. There is a
// record that nobody knows.
func TestHandedOverBehindAStrayRecord(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a, op := w.Client("a"), w.Client("operator")
		held := w.Acquire(plain(t, a))
		_, err := op.Create(t.Context(), dir, []byte(delay.String()), framework.Container)
		require.NoError(t, err)
		_, err = op.Create(t.Context(), dir+"/_c_0123456789abcdef0123456789abcdef-lock-0000000000", nil, framework.Persistent)
		require.NoError(t, err)
		next := w.Start(plain(t, a), time.Hour)
		require.True(t, next.Waiting())
		require.NoError(t, held.Release())
		next.Granted()
		require.GreaterOrEqual(t, next.Took, delay)
	})
}

// Contenders of other software below the node of the delay, which are no records, are
// no holders that have ended either.
func TestInspectTakesAContenderForARecord(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		b := w.Client("b")
		require.NoError(t, w.Acquire(delayed(t, w.Client("a"))).Release())
		_, err := b.Create(t.Context(), dir+"/other-lock-", nil, framework.EphemeralSequential)
		require.NoError(t, err)
		s, err := inspect.Path(t.Context(), b, path)
		require.NoError(t, err)
		for _, d := range s.LockDelays {
			require.Empty(t, d.Ended)
		}
	})
}

// Many contenders of other software below the node of the delay: the first ones are
// looked at again and again, and an end behind them never.
func TestManyContendersBelowTheDelay(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		b := w.Client("b")
		require.NoError(t, w.Acquire(delayed(t, w.Client("a"))).Release())
		for range 17 {
			_, err := b.Create(t.Context(), dir+"/_c_0other-lock-", nil, framework.EphemeralSequential)
			require.NoError(t, err)
		}
		w.Server.On(zktest.AnyOp, path).Client("a").Before().Always().Optional().Delay(10 * time.Millisecond)
		for i := range 20 {
			w.Server.ResetCounts()
			next := w.Start(delayed(t, w.Named("a")), time.Minute)
			<-next.Done()
			require.NoError(t, next.Err, "acquire %d of a free lock: %v", i, w.Server.Counts())
			require.NoError(t, next.Lease.Release())
		}
	})
}
