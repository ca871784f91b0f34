package mutex_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestReleaseRacesNextAcquire_Curator376(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := newMutex(t, w.Client("a"))
		referee := &conformance.Referee{Places: 1}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				for range 50 {
					got, err := m.Acquire(t.Context(), time.Minute)
					if err != nil {
						t.Error(err)
						return
					}
					referee.Grant("a goroutine", got)
					if err := got.Release(); err != nil {
						t.Error("what was acquired can be released:", err)
					}
				}
			})
		}
		all.Wait()
		require.Empty(t, referee.Faults())
		require.Len(t, referee.Tokens(), 100)
	})
}

func TestConnectionBreaksInRelease_Curator678(t *testing.T) {
	faults := map[string]func(r *zktest.Rule) *zktest.Rule{
		"before":  func(r *zktest.Rule) *zktest.Rule { return r.Before().Cut() },
		"after":   func(r *zktest.Rule) *zktest.Rule { return r.After().Cut() },
		"request": func(r *zktest.Rule) *zktest.Rule { return r.Before().DropReply() },
		"reply":   func(r *zktest.Rule) *zktest.Rule { return r.After().DropReply() },
		"mute":    func(r *zktest.Rule) *zktest.Rule { return r.Before().Mute() },
		"late":    func(r *zktest.Rule) *zktest.Rule { return r.Before().Delay(conformance.SessionTimeout / 2) },
		"moved":   func(r *zktest.Rule) *zktest.Rule { return r.Before().Fail(zktest.SessionMoved) },
	}
	for name, strike := range faults {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				m := newMutex(t, a)
				held := w.Acquire(m)
				attempt := w.Start(newMutex(t, b), lease.Forever)
				rule := strike(w.Server.On(zktest.OpDelete, path).Client("a"))
				began := time.Now()
				require.NoError(t, held.Release(), "it was intact until now")
				require.LessOrEqual(t, time.Since(began), conformance.SessionTimeout/3+50*time.Millisecond)
				<-rule.Fired()
				require.ErrorIs(t, held.Release(), lease.ErrReleased)
				w.After(conformance.SessionTimeout)
				require.False(t, attempt.Waiting(), "the library finished it")
				require.NoError(t, attempt.Granted().Release())
				require.NoError(t, w.Acquire(m).Release(), "our own leftover is not in the way")
				require.Empty(t, children(w))
			})
		})
	}
}

// What was never acquired cannot be released: there is no lease; and what was
// released cannot be released again.
func TestReleaseTwice_Curator337(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		got, err := newMutex(t, b).Acquire(t.Context(), 0)
		require.ErrorIs(t, err, lease.ErrTimeout)
		require.Nil(t, got)
		require.NoError(t, held.Release())
		next := w.Acquire(newMutex(t, b))
		require.ErrorIs(t, held.Release(), lease.ErrReleased)
		require.ErrorIs(t, held.Err(), lease.ErrReleased)
		require.ErrorIs(t, context.Cause(held.Context()), lease.ErrReleased)
		require.NoError(t, next.Err(), "the next holder does not notice")
		require.NoError(t, next.Release())
	})
}

func TestReleaseByAnyGoroutineOnce_Curator347(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newMutex(t, w.Client("a")))
		var all sync.WaitGroup
		errs := make(chan error, 10)
		for range 10 {
			all.Go(func() { errs <- held.Release() })
		}
		all.Wait()
		close(errs)
		var done, again int
		for err := range errs {
			if err == nil {
				done++
				continue
			}
			require.ErrorIs(t, err, lease.ErrReleased)
			again++
		}
		require.Equal(t, 1, done)
		require.Equal(t, 9, again)
	})
}

// Two values of one path in one goroutine are one mutex: with the lease's context
// it is entered again, with another it is waited for, as by any stranger.
func TestTwoValuesOfOnePath_Netflix75(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		one, two := newMutex(t, a), newMutex(t, a)
		held := w.Acquire(one)
		inner, err := two.Acquire(held.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, held.Token(), inner.Token())
		_, err = two.Acquire(t.Context(), time.Second)
		require.ErrorIs(t, err, lease.ErrTimeout)
		require.NoError(t, inner.Release())
		require.NoError(t, held.Err())
		require.NoError(t, held.Release())
	})
}

// The holder's session ends, another gets the lock, and then the old holder
// releases what it thinks it has.
func TestOldHolderReleasesLate_Kazoo26(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempt := w.Start(newMutex(t, b), lease.Forever)
		w.Expire(a)
		got := attempt.Granted()
		w.After(time.Second)
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		w.After(time.Second)
		require.Equal(t, b.Session().ID(), ownerOf(w, got.Path()), "the contender's node stands")
		require.NoError(t, got.Err())
		require.NoError(t, got.Confirm(t.Context()))
		require.NoError(t, got.Release())
	})
}

func TestOwnNodeDeletedWhileHolding(t *testing.T) {
	for name, held := range map[string]time.Duration{"at once": 0, "later": time.Second} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				got := w.Acquire(newMutex(t, a))
				w.After(held)
				w.Remove(b, got.Path())
				w.After(20 * time.Millisecond)
				require.ErrorIs(t, got.Err(), lease.ErrLost)
				require.ErrorIs(t, got.Err(), lease.ErrDeleted)
				require.ErrorIs(t, context.Cause(got.Context()), lease.ErrDeleted)
				var loss *lease.LossError
				require.ErrorAs(t, got.Err(), &loss)
				require.Equal(t, got.Path(), loss.Path)
				require.Equal(t, got.Token(), loss.Token)
				require.ErrorIs(t, got.Release(), lease.ErrLost)
				require.NoError(t, w.Acquire(newMutex(t, a)).Release())
			})
		})
	}
}

// It is deleted, and the holder releases before it has heard of it.
func TestReleaseFindsNodeDeleted(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		got := w.Acquire(newMutex(t, a))
		w.Remove(b, got.Path())
		err := got.Release()
		require.ErrorIs(t, err, lease.ErrLost)
		require.ErrorIs(t, err, lease.ErrDeleted)
	})
}

// The node is replaced by another of the same name: it is not the lease's.
func TestNodeReplacedWhileHolding(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		got := w.Acquire(newMutex(t, a))
		w.Remove(b, got.Path())
		impostor(w, b, got.Path())
		w.After(20 * time.Millisecond)
		require.ErrorIs(t, got.Err(), lease.ErrLost)
		require.ErrorIs(t, got.Release(), lease.ErrLost)
		w.After(conformance.SessionTimeout)
		require.Equal(t, b.Session().ID(), ownerOf(w, got.Path()), "the other's node is left alone")
	})
}

func TestCheckFailsAfterLoss(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		view, err := a.Namespace("locks")
		require.NoError(t, err)
		_, err = b.Create(t.Context(), "/stock", []byte("7"), framework.Persistent)
		require.NoError(t, err)
		held := w.Acquire(newMutex(t, a))
		for _, c := range []*framework.Client{a, view, a.In(a.Session())} {
			_, err = c.Multi(t.Context(), held.Check())
			require.NoError(t, err, "on any view of the client")
		}
		_, err = a.Multi(t.Context(), held.Check(), framework.SetOp("/stock", []byte("6"), framework.AnyVersion))
		require.NoError(t, err)

		w.Remove(b, held.Path()) // and no time to notice
		for _, c := range []*framework.Client{a, view} {
			_, err = c.Multi(t.Context(), held.Check())
			require.ErrorIs(t, err, framework.ErrNoNode)
		}
		_, err = a.Multi(t.Context(), held.Check(), framework.SetOp("/stock", []byte("5"), framework.AnyVersion))
		require.ErrorIs(t, err, framework.ErrNoNode)
		data, _, err := b.Get(t.Context(), "/stock")
		require.NoError(t, err)
		require.Equal(t, "6", string(data))
	})
}

// After a loss of the session the check goes through the next one, and fails.
func TestCheckFailsInNextSession(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(newMutex(t, a))
		w.Expire(a)
		_, err := a.Multi(t.Context(), held.Check())
		require.ErrorIs(t, err, framework.ErrNoNode)
		w.After(time.Second)
		_, err = a.Multi(t.Context(), held.Check())
		require.ErrorIs(t, err, framework.ErrNoNode)
	})
}

func TestConfirm(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		counts := requests(w, func() { require.NoError(t, held.Confirm(t.Context())) })
		require.Equal(t, map[zktest.Op]int{zktest.OpMulti: 1}, counts, "one round trip")

		w.Server.Pause()
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := held.Confirm(short)
		require.ErrorIs(t, err, context.DeadlineExceeded, "no answer is not a loss")
		require.NotErrorIs(t, err, lease.ErrLost)
		w.Server.Resume()
		require.NoError(t, held.Confirm(t.Context()))

		w.Remove(b, held.Path())
		err = held.Confirm(t.Context())
		require.ErrorIs(t, err, lease.ErrLost)
		require.ErrorIs(t, err, lease.ErrDeleted)
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		require.ErrorIs(t, held.Confirm(t.Context()), lease.ErrReleased)
	})
}
