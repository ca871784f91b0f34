package leader_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A lookout is a loop over Observe in its own goroutine.
type lookout struct {
	mu   sync.Mutex
	seen []lease.Contender
	err  error
	done chan struct{}
}

// observe starts the loop. each is called for each value, and may be nil.
func observe(w *conformance.World, e *leader.Election, each func(lease.Contender)) *lookout {
	ctx, cancel := context.WithCancel(w.T.Context())
	l := &lookout{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for present, err := range e.Observe(ctx) {
			l.mu.Lock()
			l.err = err
			if err == nil {
				l.seen = append(l.seen, present)
			}
			l.mu.Unlock()
			if each != nil {
				each(present)
			}
		}
	}()
	w.T.Cleanup(func() {
		cancel()
		<-l.done
	})
	w.After(100 * time.Millisecond) // a session's first watch takes a moment
	return l
}

// all returns what was seen.
func (l *lookout) all() []lease.Contender {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen)
}

// who returns the ids of all leaders seen, "" for none.
func (l *lookout) who() []string {
	ids := []string{}
	for _, c := range l.all() {
		ids = append(ids, c.Holder.Who)
	}
	return ids
}

// last returns the node of the last leader seen.
func (l *lookout) last() string {
	seen := l.all()
	if len(seen) == 0 {
		return "nothing seen"
	}
	return seen[len(seen)-1].Path
}

func TestObserveYieldsEveryChange(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		look := observe(w, newElection(t, w.Client("o"), ""), nil)
		require.Equal(t, []string{""}, look.who(), "no leader, and no path")
		a, b := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("b"), "b")
		first := w.Acquire(a)
		w.Settle()
		require.Equal(t, first.Path(), look.last())
		second := w.Start(b, lease.Forever)
		third := w.Start(a, lease.Forever)
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Client("operator"), first.Path()))
		w.Settle()
		require.Equal(t, []string{"", "a"}, look.who(), "other candidates and requests for revocation change nothing")
		require.NoError(t, first.Release())
		w.Settle()
		require.NoError(t, second.Granted().Release())
		w.Settle()
		require.NoError(t, third.Granted().Release())
		w.Settle()
		require.Equal(t, []string{"", "a", "b", "a", ""}, look.who())
		require.NoError(t, w.Client("operator").DeleteTree(t.Context(), path))
		w.Settle()
		require.NoError(t, w.Acquire(b).Release())
		w.Settle()
		require.Equal(t, []string{"", "a", "b", "a", "", "b", ""}, look.who())
		present := look.all()[1]
		require.Equal(t, lease.KindLeader, present.Kind)
		require.True(t, present.Holding)
		require.Equal(t, first.Token(), present.Token)
		require.NotZero(t, present.Session)
		require.NotZero(t, present.Enqueued)
		require.Zero(t, look.all()[0])
	})
}

// Candidates that come and go behind the leader cost the observer nothing.
func TestObserveCostsNothingBetweenLeaders(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newElection(t, w.Client("a"), "a"))
		look := observe(w, newElection(t, w.Client("o"), ""), nil)
		b := newElection(t, w.Client("b"), "b")
		lists := func() int {
			return w.Server.CountOf("o", zktest.OpGetChildren2) + w.Server.CountOf("o", zktest.OpGetData)
		}
		w.Server.ResetCounts()
		for range 50 {
			require.ErrorIs(t, w.Start(b, time.Millisecond).Failed(), lease.ErrTimeout)
		}
		require.Zero(t, lists())
		next := w.Start(b, lease.Forever)
		require.NoError(t, held.Release())
		w.Settle()
		require.Equal(t, 2, lists(), "one listing, one read")
		require.NoError(t, next.Granted().Release())
		w.Settle()
		require.Equal(t, []string{"a", "b", ""}, look.who())
	})
}

// A slow loop gets the latest leader.
func TestObserveWithSlowLoop(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		slow := observe(w, newElection(t, w.Client("o"), ""), func(lease.Contender) { time.Sleep(time.Minute) })
		a := newElection(t, w.Client("a"), "a")
		for range 100 {
			require.NoError(t, w.Acquire(a).Release())
		}
		held := w.Acquire(a)
		w.After(3 * time.Minute)
		require.Equal(t, held.Path(), slow.last())
		require.Len(t, slow.who(), 2)
		require.NoError(t, held.Release())
		require.NoError(t, w.Acquire(newElection(t, w.Client("b"), "b")).Release())
	})
}

// The sequence goes on when the observer's connection breaks or its session is lost.
func TestObserveContinuesAfterLosses(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := w.Client("o")
		look := observe(w, newElection(t, o, ""), nil)
		a := newElection(t, w.Client("a"), "a")
		var want []string
		for i := range 10 {
			held := w.Acquire(a)
			w.Settle()
			switch i % 3 {
			case 0:
				w.Expire(o)
			case 1:
				w.Server.DropConnections("o")
			case 2:
				w.Server.Partition("o", true)
				w.After(2 * conformance.SessionTimeout)
				require.NoError(t, held.Release())
				held = w.Acquire(a)
				w.Server.Partition("o", false)
			}
			w.After(2 * time.Second)
			require.Equal(t, held.Path(), look.last())
			require.NoError(t, held.Release())
			w.After(2 * time.Second)
			require.Empty(t, look.last())
			want = append(want, held.Path())
		}
		require.Len(t, want, 10)
	})
}

// The first value is not older than the call of Observe.
func TestObserveBeginsWithThePresentLeader(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		e := newElection(t, w.Client("o"), "")
		first := w.Acquire(newElection(t, w.Client("a"), "a"))
		w.Server.Lag("o", true)
		require.NoError(t, first.Release())
		second := w.Acquire(newElection(t, w.Client("b"), "b"))
		for present, err := range e.Observe(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, "b", present.Holder.Who)
			break
		}
		present, _, err := e.Leader(t.Context())
		require.NoError(t, err)
		require.Equal(t, "b", present.Holder.Who)
		require.NoError(t, second.Release())
	})
}

// The observer's next session is with a lagging server.
func TestObserveNeverYieldsAnOlderLeader(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var dials atomic.Int32
		o := w.Client("o", func(cfg *framework.Config) {
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				name := "o"
				if dials.Add(1) > 1 {
					name = "o, elsewhere"
				}
				return w.Server.Dial(name)(ctx, network, addr)
			}
		})
		look := observe(w, newElection(t, o, ""), nil)
		first := w.Acquire(newElection(t, w.Client("a"), "a"))
		w.Server.Lag("o, elsewhere", true)
		require.NoError(t, first.Release())
		second := w.Acquire(newElection(t, w.Client("b"), "b"))
		w.Settle()
		w.Expire(o)
		w.After(time.Second)
		w.Server.Lag("o, elsewhere", false)
		require.Greater(t, dials.Load(), int32(1))
		require.NoError(t, second.Release())
		w.After(time.Second)
		seen := slices.Compact(look.who()) // between two leaders there may be none
		require.Equal(t, []string{"a", "b"}, slices.DeleteFunc(seen, func(id string) bool { return id == "" }))
	})
}

// Loops that are left leave nothing, and together at most one watch on the server.
func TestObserveLeavesNothing(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		e := newElection(t, w.Client("o"), "")
		a := newElection(t, w.Client("a"), "a")
		for range 50 {
			for _, err := range e.Observe(t.Context()) {
				require.NoError(t, err)
				break
			}
			held := w.Acquire(a)
			for _, err := range e.Observe(t.Context()) {
				require.NoError(t, err)
				break
			}
			require.NoError(t, held.Release())
			w.Settle()
			require.LessOrEqual(t, w.Server.Watches(), 2)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for _, err := range e.Observe(ctx) {
			require.NoError(t, err)
			cancel()
			n++
		}
		require.Equal(t, 1, n)
		for _, err := range e.Observe(ctx) {
			t.Fatal("there is nothing to tell", err)
		}
	})
}

func TestObserveEndsWithTheClient(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := w.Client("o")
		look := observe(w, newElection(t, o, ""), nil)
		w.After(time.Second)
		require.NoError(t, o.Close())
		<-look.done
		require.ErrorIs(t, look.err, framework.ErrClosed)
		require.ErrorContains(t, look.err, path)
		require.Equal(t, []string{""}, look.who())
	})
}

// Temporary failures are repeated with growing pauses, unless the policy ends.
func TestObserveBacksOff(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		config := func(cfg *framework.Config) { cfg.Retry = retry.None() }
		refused := w.Server.On(zktest.OpGetChildren2, path).Always().Fail(zktest.ThrottledOp)
		look := observe(w, newElection(t, w.Client("o", config), ""), nil)
		w.After(time.Minute)
		require.Empty(t, look.who())
		require.Less(t, w.Server.CountOf("o", zktest.OpGetChildren2), 40)
		limited := observe(w, newElection(t, w.Client("p", config), "", leader.WithBackoff(retry.None())), nil)
		<-limited.done
		require.ErrorIs(t, limited.err, framework.ErrThrottled)
		refused.Remove()
		w.After(time.Minute)
		require.Equal(t, []string{""}, look.who())
	})
}
