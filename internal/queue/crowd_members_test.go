package queue_test

import (
	"math/rand/v2"
	"slices"
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
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Readers stand behind writers of their client only, and come to the front together.
func TestReadersBehindTheFront(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		r := newRank(t, w, "write lock", 1)
		l, err := rwlock.New(r.a, path)
		require.NoError(t, err)
		var readers []*conformance.Attempt
		for range 3 {
			require.Equal(t, map[zktest.Op]int{zktest.OpCreate: 1}, w.Requests(func() {
				readers = append(readers, w.Start(l.Read(), lease.Forever))
				w.After(20 * time.Millisecond)
			}))
		}
		require.NoError(t, r.held.Release())
		writer := r.waiting[0].Granted()
		w.After(time.Second)
		require.NoError(t, writer.Release())
		w.Settle()
		for _, reader := range readers {
			require.False(t, reader.Waiting(), "all readers have the lock together")
		}
		last := w.Start(l.Write(), lease.Forever)
		for _, reader := range readers {
			require.True(t, last.Waiting())
			require.NoError(t, reader.Granted().Release())
		}
		require.NoError(t, last.Granted().Release())
	})
}

// Readers keep no reader behind the front.
func TestReadersAtTheFront(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		r := newRank(t, w, "write lock", 0)
		l, err := rwlock.New(r.a, path)
		require.NoError(t, err)
		var readers []*conformance.Attempt
		for range 3 {
			requests := w.Requests(func() {
				readers = append(readers, w.Start(l.Read(), lease.Forever))
				w.After(20 * time.Millisecond)
			})
			require.Positive(t, requests[zktest.OpGetChildren2], "each lists, and watches its node")
			require.Positive(t, requests[zktest.OpGetData])
		}
		require.Equal(t, map[zktest.Op]int{zktest.OpDelete: 1}, w.Requests(func() {
			require.NoError(t, r.held.Release())
			for _, reader := range readers {
				reader.Granted()
			}
		}))
		for _, reader := range readers {
			require.NoError(t, reader.Lease.Release())
		}
	})
}

// The front is that of the whole client, of whichever session its positions are.
func TestCrowdOfSeveralSessions(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const waiters = 12
		r := newRank(t, w, "mutex", 1, func(cfg *framework.Config) { cfg.MaxEphemeralBytes = 400 })
		requests := w.Requests(func() {
			for range waiters - 1 {
				r.join(lease.Forever)
			}
		})
		require.Equal(t, waiters-1, requests[zktest.OpCreate])
		require.Zero(t, requests[zktest.OpGetChildren2]+requests[zktest.OpGetData], "%v", requests)
		sessions := map[int64]bool{}
		var order []int
		for i, node := range r.nodes {
			info, ok := w.Server.Node(path + "/" + node)
			require.True(t, ok)
			sessions[info.EphemeralOwner] = true
			order = append(order, i)
		}
		require.GreaterOrEqual(t, len(sessions), 3)
		late := r.join(time.Second)
		var timeout *lease.TimeoutError
		require.ErrorAs(t, late.Failed(), &timeout)
		assert.Equal(t, base(r.held), timeout.Node, "another session knows the head")
		assert.GreaterOrEqual(t, timeout.Ahead, waiters)
		r.drain(order...)
	})
}

// So is what becomes of them: those of a session that ends join again in another one,
// while the front is in one that goes on.
func TestFurtherSessionThatEndsBehindTheFront(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		r := newRank(t, w, "mutex", 9, func(cfg *framework.Config) { cfg.MaxEphemeralBytes = 400 })
		info, ok := w.Server.Node(path + "/" + r.nodes[8])
		require.True(t, ok)
		require.NotEqual(t, r.a.Session().ID(), info.EphemeralOwner)
		require.True(t, w.Server.ExpireSession(info.EphemeralOwner))
		w.After(time.Second)
		require.Len(t, w.Server.Children(path), 10)
		require.NotContains(t, w.Server.Children(path), r.nodes[8])
		for _, at := range r.waiting {
			at.Cancel(nil)
		}
		require.NoError(t, r.held.Release())
	})
}

// A semaphore's queue has a mutex in it, behind which the next one for permits is. Its
// node is deleted, and the head passes on what it knows.
func TestPermitsDoNotStandBehind(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		queue.SetFront(a, 1)
		s, locks := semaphoreOf(t, a, 1), path+"/locks"
		held := w.Acquire(semaphoreOf(t, w.Client("b"), 1))
		head := w.Start(s, lease.Forever)
		w.After(time.Second)
		between, err := mutex.New(a, locks)
		require.NoError(t, err)
		before := w.Server.Children(locks)
		inTheWay := w.Start(between, lease.Forever)
		w.After(time.Second)
		after := slices.DeleteFunc(w.Server.Children(locks), func(node string) bool { return slices.Contains(before, node) })
		require.Len(t, after, 1)
		watches := w.Server.Watches()
		next := w.Start(s, lease.Forever)
		w.After(4 * conformance.SessionTimeout) // for a slow look
		require.Greater(t, w.Server.Watches(), watches)
		require.True(t, next.Waiting())
		w.Server.On(zktest.OpGetChildren2, path+"/leases").Client("a").Delay(20 * time.Millisecond)
		require.NoError(t, held.Release())
		<-time.After(5 * time.Millisecond)
		w.Remove(operator, locks+"/"+after[0])
		require.NoError(t, head.Granted().Release())
		inTheWay.Cancel(nil)
		require.NoError(t, next.Granted().Release())
	})
}

// The queue is deleted with its parent and made again, so that numbers start anew.
// Those behind the front, whose nodes are deleted, come to the front although those
// that join now have smaller numbers, and there are always some.
func TestQueueThatIsMadeAgainBehindTheFront(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		queue.SetFront(a, 1)
		m := mutexOf(t, a)
		for range 100 { // an old queue
			require.NoError(t, w.Acquire(m).Release())
		}
		w.Acquire(mutexOf(t, w.Client("b")))
		var all []*conformance.Attempt
		for range 3 {
			all = append(all, w.Start(m, lease.Forever))
			w.After(time.Second)
		}
		ops := []framework.Op{}
		for _, node := range w.Server.Children(path) {
			ops = append(ops, framework.DeleteOp(path+"/"+node, framework.AnyVersion))
		}
		_, err := operator.Multi(t.Context(), append(ops, framework.DeleteOp(path, framework.AnyVersion))...)
		require.NoError(t, err)
		old := all
		for range 3 {
			all = append(all, w.Start(m, lease.Forever))
		}
		for granted := 0; slices.ContainsFunc(old, (*conformance.Attempt).Waiting); {
			require.Less(t, granted, 20, "those that have always waited are forgotten")
			w.After(time.Second)
			for _, at := range all {
				if !at.Waiting() && at.Lease != nil {
					granted++
					all = append(all, w.Start(m, lease.Forever))
					_ = at.Lease.Release() // the node of the first is deleted
					at.Lease = nil
				}
			}
		}
		for _, at := range all {
			at.Cancel(nil)
		}
	})
}

// A node that is deleted behind the front, and found to be so by a listing, makes room
// for another in its session.
func TestNodeThatIsDeletedBehindTheFrontMakesRoom(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		r := newRank(t, w, "mutex", 3, func(cfg *framework.Config) { cfg.Sessions, cfg.MaxEphemeralBytes = 1, 220 })
		w.Server.On(zktest.OpDelete, path+"/"+r.nodes[1]).Client("a").Delay(time.Second)
		w.Remove(w.Client("operator"), path+"/"+r.nodes[1])
		require.NoError(t, r.held.Release())
		first := r.waiting[0].Granted()
		w.After(100 * time.Millisecond)
		require.True(t, r.waiting[1].Waiting(), "it has joined again, although the delete of its node is not answered")
		require.NoError(t, first.Release())
		require.NoError(t, r.waiting[2].Granted().Release())
		require.NoError(t, r.waiting[1].Granted().Release())
	})
}

// Those who have chosen a session, and come to join it later, leave the part of it free
// that is kept for nodes which have to be in it.
func TestCrowdLeavesRoomInItsSession(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const limit = 8000
		a := w.Client("a", func(cfg *framework.Config) { cfg.MaxEphemeralBytes = limit })
		q := locks.Queue(a, path, znode.Mutex, queue.Self(""), 0)
		var all []*queue.Position
		for used := 0; ; {
			p := q.Position(a.In(a.Session()), &queue.Seen{})
			err := p.Join(t.Context())
			if err != nil {
				require.ErrorIs(t, err, framework.ErrTooManyEphemerals)
				require.Greater(t, used, limit*3/4)
				break
			}
			all, used = append(all, p), used+len(p.Path())+4
			require.LessOrEqual(t, used, limit-limit/16)
		}
		for _, p := range all {
			p.Leave(t.Context())
		}
	})
}

// What is known of how many are ahead does not depend on where it is looked for.
func TestCrowdCountsThoseAhead(t *testing.T) {
	for seed := range uint64(2000) {
		counted, want := queue.CountsAhead(rand.New(rand.NewPCG(seed, 0)).IntN)
		require.Equal(t, want, counted, "seed %d", seed)
	}
}
