package striped_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Resize waits for the holder of any stripe, within its timeout, and changes nothing
// before. If it fails nothing is left.
func TestResizeWaitsForAllHolders(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newLocks(t, w.Client("a"), 4), newLocks(t, w.Client("b"), 4)
		for i := range 4 {
			key := 0
			for b.Index(fmt.Sprint(key)) != i {
				key++
			}
			held := w.Acquire(b.For(fmt.Sprint(key)))
			began := time.Now()
			for _, timeout := range []time.Duration{0, time.Second} {
				_, err := a.Resize(t.Context(), 5, timeout)
				require.ErrorIs(t, err, lease.ErrTimeout)
				require.ErrorContains(t, err, "resize "+path+" to 5 stripes: "+a.Path(i))
			}
			require.Equal(t, time.Second, time.Since(began))
			w.Settle()
			require.Equal(t, []string{held.Path()}, w.Ephemerals("/"))
			require.Equal(t, "4 stripes", stored(w))
			release(w, held)
		}
		resized, err := a.Resize(t.Context(), 5, time.Second)
		require.NoError(t, err)
		require.Equal(t, "5 stripes", stored(w))
		require.ErrorIs(t, w.Start(a.For("key"), 0).Failed(), striped.ErrSizeMismatch)
		release(w, w.Acquire(resized.For("key")))
		leavesNothing(w)
	})
}

func TestResizeWithoutUsers(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		resized, err := newLocks(t, c, 2).Resize(t.Context(), 3, 0)
		require.NoError(t, err)
		require.Equal(t, "3 stripes", stored(w))
		same, err := resized.Resize(t.Context(), 3, 0)
		require.NoError(t, err)
		release(w, w.Acquire(same.For("key")))
		release(w, w.Acquire(resized.For("key")))
		for _, n := range []int{0, -1, striped.MaxStripes + 1} {
			_, err := same.Resize(t.Context(), n, time.Second)
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
		}
		_, err = newLocks(t, c, 2).Resize(t.Context(), 4, time.Second)
		require.ErrorIs(t, err, striped.ErrSizeMismatch, "it is not the number that is stored")
	})
}

// A lease of the caller would end up on a stripe that its key does not have any more.
func TestResizeByAHolder(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLocks(t, w.Client("a"), 3)
		held := w.Acquire(l.For("key"))
		_, err := l.Resize(held.Context(), 4, time.Minute)
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		w.Settle()
		require.Len(t, w.Ephemerals("/"), 1)
		require.NoError(t, held.Err())
		require.Equal(t, "3 stripes", stored(w))
		release(w, held)
	})
}

// Each request of a Resize fails in turn, before or after it took effect: what is
// stored then is one of the two numbers, an error without an unknown outcome means the
// old one, and no stripe stays taken.
func TestEachRequestOfAResizeFails(t *testing.T) {
	strikes := map[string]func(*zktest.Rule){
		"the connection breaks before": func(r *zktest.Rule) { r.Before().Cut() },
		"the connection breaks after":  func(r *zktest.Rule) { r.After().Cut() },
		"the session ends before":      func(r *zktest.Rule) { r.Before().Expire() },
		"the session ends after":       func(r *zktest.Rule) { r.After().Expire() },
		"it is refused":                func(r *zktest.Rule) { r.Before().Fail(zktest.NoAuth) },
		"it is not answered":           func(r *zktest.Rule) { r.After().Mute() },
	}
	for name, strike := range strikes {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				for nth := 1; ; nth++ {
					c := w.Named("a")
					l := newLocks(t, c, 2)
					release(w, w.Acquire(l.For("key")))
					w.After(conformance.SessionTimeout)
					rule := w.Server.On(zktest.AnyOp, path).Client("a").Nth(nth).Optional()
					strike(rule)
					resized, err := l.Resize(t.Context(), 3, time.Hour)
					rule.Remove()
					switch {
					case err == nil:
						require.Equal(t, "3 stripes", stored(w))
						require.NotNil(t, resized)
					case framework.OutcomeOf(err) != framework.Unknown:
						require.Equal(t, "2 stripes", stored(w), "%v", err)
					}
					if name == "it is refused" { // to delete a node, perhaps
						w.Expire(c)
					}
					w.After(conformance.SessionTimeout)
					require.Empty(t, w.Ephemerals("/"))
					require.NoError(t, w.Named("operator").DeleteTree(t.Context(), path))
					if !conformance.Closed(rule.Fired()) {
						require.Greater(t, nth, 5)
						break
					}
				}
			})
		})
	}
}

// The session of the one who resizes ends when it has all stripes, and another client
// gets one of them: the transaction has no effect.
func TestSessionEndsBeforeTheNumberChanges(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newLocks(t, w.Client("a"), 2), newLocks(t, w.Client("b"), 2)
		release(w, w.Acquire(a.For("key")))
		slow := w.Server.On(zktest.OpMulti, "").Client("a").Before().Delay(500 * time.Millisecond)
		done := make(chan error)
		go func() {
			_, err := a.Resize(t.Context(), 3, time.Minute)
			done <- err
		}()
		<-slow.Fired()
		at := w.Start(b.For("key"), lease.Forever)
		w.Expire(w.Known("a"))
		held := at.Granted()
		require.Error(t, <-done)
		w.After(time.Second)
		require.Equal(t, "2 stripes", stored(w))
		require.NoError(t, held.Confirm(t.Context()))
		release(w, held)
		leavesNothing(w)
	})
}
