package lockdelay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A client knows the delay, and its create is under way while the container is removed,
// and made again with another delay. It does not contend with the one that it knew.
func TestADelayThatChangesWhileAContenderJoins(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a, c := w.Client("a"), w.Client("c")
		longer, err := mutex.New(c, path, mutex.WithLockDelay(time.Hour))
		require.NoError(t, err)
		require.NoError(t, w.Acquire(delayed(t, a)).Release())
		w.Server.On(zktest.OpCreate, path).Client("a").Before().Delay(800 * time.Millisecond)
		late := w.Start(delayed(t, a), 2*time.Hour)
		w.Remove(w.Client("server"), dir)
		w.Acquire(longer)
		w.After(time.Second)
		kill(w, "c", c)
		if !late.Waiting() {
			require.ErrorIs(t, late.Err, lease.ErrLockDelayMismatch)
			return
		}
		late.Granted()
		require.GreaterOrEqual(t, late.Took, time.Hour, "granted sooner than the delay of the one who has ended")
	})
}

// The container goes while a slot rests that was released, as it is empty then. Those
// who wait join again, and each is granted the lock.
func TestTheContainerGoesWhileASlotRests(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(delayed(t, w.Client("a"), mutex.WithMinHold(3*time.Minute)))
		var waiting []*conformance.Attempt
		for i := range 4 {
			waiting = append(waiting, w.Start(delayed(t, w.Client(fmt.Sprint("w", i))), time.Hour))
		}
		require.NoError(t, held.ReleaseAsync())
		w.After(2 * time.Minute)
		_, exists := w.Server.Node(dir)
		require.False(t, exists)
		w.After(time.Minute)
		for len(waiting) > 0 {
			w.After(time.Second)
			next := slices.IndexFunc(waiting, func(at *conformance.Attempt) bool { return !at.Waiting() })
			require.GreaterOrEqual(t, next, 0, "nobody is granted it")
			l := waiting[next].Granted()
			waiting = slices.Delete(waiting, next, next+1)
			for _, other := range waiting {
				require.True(t, other.Waiting())
			}
			require.NoError(t, l.Release())
		}
	})
}

// The server does not know containers.
func TestAnOldServer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		require.NoError(t, w.Acquire(delayed(t, a)).Release())
		w.Acquire(delayed(t, a))
		kill(w, "a", a)
		next := w.Start(delayed(t, b), time.Hour)
		next.Granted()
		require.GreaterOrEqual(t, next.Took, delay)
	}, zktest.WithUnsupported(zktest.OpCreateContainer))
}

// A process that had many slots is killed. The paths are long.
func TestManyRecordsWithLongPaths(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		at := "/" + strings.Repeat("long", 100)
		of := func(name string) *rwlock.Lock {
			l, err := rwlock.New(w.Named(name), at, rwlock.WithLockDelay(delay))
			require.NoError(t, err)
			return l
		}
		for range 64 {
			w.Acquire(of("a").Read())
		}
		kill(w, "a", w.Named("a"))
		next := w.Start(of("b").Write(), time.Hour)
		next.Granted()
		require.Empty(t, w.Server.Children(at + "/lock-delay")[1:])
	})
}

// The records of one user may be deleted by that user only. The path is open, as that
// of a lock is as a rule. Others need not wait for ever.
func TestRecordsOfAnotherIdentity(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		owned := func(user string) func(*framework.Config) {
			return func(cfg *framework.Config) {
				cfg.Auth = []framework.Credential{framework.DigestAuth(user, "secret")}
				cfg.ACL = func(string) []framework.ACL { return framework.CreatorACL(framework.PermAll) }
			}
		}
		a := w.Client("a", owned("ann"))
		b := w.Client("b")
		require.NoError(t, w.Acquire(plain(t, b)).Release()) // the path is open
		_, err := b.Create(t.Context(), dir, []byte(delay.String()), framework.Container)
		require.NoError(t, err)
		w.Acquire(delayed(t, a))
		kill(w, "a", a)
		next := w.Start(delayed(t, b), 2*delay)
		<-next.Done()
		assert.NoError(t, next.Err)
	})
}

// The clock of the server that leads goes back, or ahead, by less than a delay.
func TestClocksOfServersThatDiffer(t *testing.T) {
	for _, ahead := range []time.Duration{delay - time.Second, 1 - delay} {
		inWorld(t, func(t *testing.T, w *conformance.World) {
			a := w.Client("a")
			w.Acquire(delayed(t, a))
			kill(w, "a", a)
			began := time.Now()
			require.Error(t, w.Start(delayed(t, w.Client("b")), 0).Failed())
			w.Server.SetClock(ahead)
			for time.Since(began) < 6*delay {
				if at := w.Start(delayed(t, w.Named("b")), 0); at.Err == nil {
					break
				}
				w.After(time.Second / 2)
			}
			require.GreaterOrEqual(t, time.Since(began), delay)
			require.Less(t, time.Since(began), 4*delay)
		})
	}
}
