package queue_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A listing is kept for the front and a little more. Those behind that list again when
// they come to the front, and nobody joins twice.
func TestListingOfACrowdIsTrimmed(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const waiters = 40
		r := newRank(t, w, "mutex", waiters)
		w.After(2 * conformance.SessionTimeout) // for a slow look
		require.Equal(t, queue.ListedFronts+1, queue.Kept(r.a, path), "with the holder")
		var order []int
		for i := range waiters {
			order = append(order, i)
		}
		requests := w.Requests(func() { r.drain(order...) })
		require.Zero(t, requests[zktest.OpCreate])
		require.LessOrEqual(t, requests[zktest.OpGetChildren2], 1+waiters/(queue.ListedFronts-1))
	})
}

// It is also kept for those further behind that want it.
func TestListingShowsThoseWhoWantIt(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		queue.SetFront(a, 1)
		q := locks.Queue(a, path, znode.Mutex, queue.Self(""), 0)
		var all []*queue.Position
		for range queue.ListedFronts + 4 {
			all = append(all, joined(t, q, a))
		}
		w.Settle()
		queue.ListAgain(all[0])
		w.Settle()
		require.Equal(t, queue.ListedFronts, queue.Kept(a, path))
		last := all[len(all)-1]
		queue.ListAgain(last)
		w.Settle()
		require.Equal(t, len(all), queue.Kept(a, path))
		for _, p := range all {
			p.Leave(t.Context())
		}
	})
}

// Nodes ahead that may be deleted are read, one by one, where a listing of all would
// cost more.
func TestALongQueueIsReadRatherThanListed(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		var ahead []string
		foreign := func(n int) {
			for range n {
				made, err := b.CreateProtected(t.Context(), path+"/"+znode.Mutex, nil, framework.EphemeralSequential)
				require.NoError(t, err)
				ahead = append(ahead, made.Path)
			}
		}
		require.NoError(t, w.Acquire(mutexOf(t, a)).Release())
		foreign(18)
		at := w.Start(mutexOf(t, a), lease.Forever)
		foreign(900)
		w.After(2 * conformance.SessionTimeout) // for a slow look, that shows all of them
		requests := w.Requests(func() {
			for _, nearest := range []int{17, 16, 15} {
				w.Remove(b, ahead[nearest])
				w.Settle()
			}
		})
		require.Zero(t, requests[zktest.OpGetChildren2], "%v", requests)
		require.LessOrEqual(t, requests[zktest.OpGetData], 18, "each once")
		for _, node := range ahead[:15] {
			w.Remove(b, node)
		}
		require.NoError(t, at.Granted().Release())
	})
}

// One that has come to the front decides by a listing that may be older than that, so
// it is not admitted without a watch on its node.
func TestWhoStoodBehindIsWatched(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		queue.SetFront(a, 1)
		q := locks.Queue(a, path, znode.Mutex, queue.Self(""), 0)
		var both []*queue.Position
		for range 2 {
			both = append(both, joined(t, q, a))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, both[1].AwaitFront(ctx), context.DeadlineExceeded)
		w.Remove(operator, both[0].Path())
		queue.ListAgain(both[0])
		w.After(time.Second) // the listing shows the second one, and nothing ahead
		w.Remove(operator, both[1].Path())
		both[0].End()
		require.NoError(t, both[1].AwaitFront(t.Context()))
		_, err := both[1].Listed(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, both[1].AwaitAdmitted(t.Context(), nil, false), queue.ErrEvicted)
		both[1].End()
	})
}

// The creates of a crowd leave room for other requests of the session.
func TestJoinsOfACrowdTakeTurns(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const crowd = 600
		a := w.Client("a")
		m := mutexOf(t, a)
		other, err := rwlock.New(a, "/other")
		require.NoError(t, err)
		kept, held := w.Acquire(other.Write()), w.Acquire(mutexOf(t, w.Client("b")))
		w.Server.Stall("a", true)
		var attempts []*conformance.Attempt
		for range crowd {
			attempts = append(attempts, w.Begin(t.Context(), m, lease.Forever))
		}
		w.Settle()
		released := make(chan error, 1)
		go func() { released <- kept.Release() }()
		w.Settle()
		most := 0
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			switch {
			case c.Client != "a" || c.Phase != zktest.PhaseBeforeApply:
			case c.Op == zktest.OpDelete:
				most = len(w.Server.Children(path))
			}
			return zktest.Pass
		})
		w.Server.Stall("a", false)
		require.NoError(t, <-released)
		require.LessOrEqual(t, most, 256+1)
		require.Positive(t, most)
		w.After(time.Second)
		require.Len(t, w.Server.Children(path), crowd+1)
		for _, at := range attempts {
			at.Cancel(nil)
		}
		require.NoError(t, held.Release())
		for i, at := range attempts {
			require.Error(t, at.Failed(), fmt.Sprint(i))
		}
	})
}

// A queue of which a listing would be too large takes no newcomers behind the front:
// those that it has can list it when they come to the front.
func TestQueueIsTooLongBehindTheFront(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const crowd, fit = 1300, 1000
		held := w.Acquire(mutexOf(t, w.Client("b")))
		a := w.Client("a")
		queue.SetFront(a, 1)
		var all []*conformance.Attempt
		for i := range crowd {
			all = append(all, w.Begin(t.Context(), mutexOf(t, a), lease.Forever))
			if i <= fit {
				w.Settle()
			}
			w.Server.Stall("a", i >= fit) // the others come at once
		}
		w.Settle()
		w.Server.Stall("a", false)
		w.After(time.Minute)
		queued := len(w.Server.Children(path))
		require.Greater(t, queued, fit)
		require.Less(t, queued, crowd)
		var group sync.WaitGroup
		for _, at := range all {
			if !at.Waiting() {
				require.ErrorIs(t, at.Failed(), framework.ErrReplyTooLarge)
				queued++
				continue
			}
			group.Go(func() {
				if <-at.Done(); at.Err == nil {
					at.Err = at.Lease.Release()
				}
				assert.NoError(t, at.Err)
			})
		}
		require.Equal(t, crowd+1, queued)
		require.NoError(t, held.Release())
		group.Wait()
	})
}
