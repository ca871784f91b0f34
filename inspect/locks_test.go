package inspect_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// locksBelow finds those in use.
func locksBelow(t *testing.T, c *framework.Client, path string) *inspect.LockSurvey {
	t.Helper()
	found, err := inspect.Locks(t.Context(), c, path)
	require.NoError(t, err)
	return found
}

// locksIn writes those in use as texts: what they are, how many hold and wait, who is
// the head and in which state.
func locksIn(found *inspect.LockSurvey) (all []string) {
	for _, l := range found.Locks {
		all = append(all, fmt.Sprintf("%s %s %d of %d: %d+%d+%d %s %s %q",
			l.Path, l.Recipe, l.Queues, l.Size, l.Holding, l.Waiting, l.Unknown, l.Head.Kind, l.Head.State, l.Head.Holder.Who))
	}
	return all
}

// Each recipe, with what it has below its path, is one lock.
func TestLocksOfAllRecipes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		var held []*lease.Lease
		var waiting []*conformance.Attempt
		take := func(as ...lease.Acquirer) {
			for _, l := range as {
				held = append(held, w.Acquire(l))
				w.After(time.Second)
			}
		}
		wait := func(as ...lease.Acquirer) {
			for _, l := range as {
				waiting = append(waiting, w.Start(l, lease.Forever))
				w.After(time.Second)
			}
		}
		take(mutexAt(t, a, "/app/m", "a"), rwAt(t, a, "/app/rw", "a").Read(), rwAt(t, b, "/app/rw", "b").Read())
		wait(mutexAt(t, b, "/app/m", "b"), rwAt(t, b, "/app/rw", "w").Write(), rwAt(t, a, "/app/rw", "late").Read())
		for name, layout := range semaphores {
			path := "/app/two"
			if layout != nil {
				path = "/app/single"
			}
			s := permitsAt(t, a, path, name, 3, layout)
			take(s, s.Weight(2))
			wait(permitsAt(t, b, path, "b", 3, layout).Weight(3))
		}
		leads := func(c *framework.Client, id string) lease.Acquirer {
			return must(leader.New(c, "/app/e", leader.WithID(id)))
		}
		take(leads(a, "first"))
		wait(leads(b, "second"))
		stripes := func(c *framework.Client, who string) *striped.Locks {
			return must(striped.New(c, "/app/s", 8, striped.WithHolder(who)))
		}
		one := stripes(b, "one")
		take(one.For(keyOf(one, 5)), stripes(a, "two").For(keyOf(one, 3)))
		wait(stripes(a, "waits").For(keyOf(one, 5)))
		job := func(c *framework.Client, who string) *once.Job {
			return must(once.New(c, "/app/j", once.WithHolder(who)))
		}
		take(job(a, "z").Key("z"), job(a, "y").Key("y"))
		wait(job(b, "b").Key("y"))

		found := locksBelow(t, c, "/")
		require.Equal(t, []string{
			`/app/e election 1 of 0: 1+1+0 leader held "first"`,
			`/app/j run 2 of 0: 2+1+0 mutex held "z"`,
			`/app/m lock 1 of 0: 1+1+0 mutex held "a"`,
			`/app/rw lock 1 of 0: 2+2+0 reader held "a"`,
			`/app/s stripe 2 of 8: 2+1+0 mutex held "one"`,
			`/app/single semaphore 1 of 3: 2+1+0 semaphore held "single queue"`,
			`/app/two semaphore 1 of 3: 3+1+0 semaphore held "Curator's layout"`,
		}, locksIn(found))
		require.Empty(t, found.Unreadable)
		for _, l := range found.Locks {
			agrees(t, c, l)
			require.Equal(t, l.Recipe == inspect.Semaphore && l.Path == "/app/two", !l.Granted.IsZero(), l.Path)
		}
		require.Equal(t, []string{`/app/s/stripe-0003 lock 1 of 0: 1+0+0 mutex held "two"`}, locksIn(locksBelow(t, c, "/app/s/stripe-0003")))
		require.Equal(t, locksIn(found)[:1], locksIn(locksBelow(t, c, "/app/e")))
		ends(t, held, waiting...)
		require.Empty(t, locksBelow(t, c, "/").Locks)
	})
}

// agrees compares a lock with its survey.
func agrees(t *testing.T, c *framework.Client, l inspect.LockInUse) {
	t.Helper()
	s := must(inspect.Path(t.Context(), c, l.Path))
	of := map[inspect.State]int{}
	var heldSince, waitingSince []time.Time
	for _, q := range s.Queues {
		require.Equal(t, l.Recipe, q.Recipe)
		for _, c := range q.Contenders {
			of[c.State]++
			if c.State == inspect.Held {
				heldSince = append(heldSince, c.Enqueued)
			} else {
				waitingSince = append(waitingSince, c.Enqueued)
			}
		}
	}
	require.Equal(t, map[inspect.State]int{inspect.Held: l.Holding, inspect.Waiting: l.Waiting}, of, l.Path)
	require.Len(t, s.Queues, l.Queues)
	require.Equal(t, slices.MinFunc(heldSince, time.Time.Compare), l.HeldSince(), l.Path)
	require.Equal(t, slices.MinFunc(waitingSince, time.Time.Compare), l.WaitingSince, l.Path)
	require.True(t, slices.ContainsFunc(s.Queues, func(q inspect.Queue) bool {
		return slices.ContainsFunc(q.Contenders, func(c inspect.Contender) bool { return c.Node == l.Head.Node && c.Token == l.Head.Token })
	}), l.Path)
}

// Of other clients the same is known as for a survey.
func TestLocksOfOtherClients(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		in := func(want []string, nodes ...string) {
			t.Helper()
			for _, node := range nodes {
				foreign(t, c, "/app"+node)
			}
			require.Equal(t, want, locksIn(locksBelow(t, c, "/app")))
			require.NoError(t, c.DeleteTree(t.Context(), "/app"))
		}
		in(nil, "/x/y")
		in([]string{`/app/l lock 1 of 0: 1+1+0 mutex held ""`}, "/l/x-lock-", "/l/y-lock-")
		in([]string{`/app lock 1 of 0: 1+0+0 writer held ""`, `/app election 1 of 0: 1+0+0 leader held "10.0.0.1"`}, "/__WRIT__", "/latch-")
		in([]string{`/app/s semaphore 1 of 0: 0+0+2 semaphore unknown ""`}, "/s/permits-2-", "/s/permits-1-")
		in([]string{`/app/s semaphore 1 of 0: 1+2+0 semaphore held ""`}, "/s/leases/x-lease-", "/s/locks/x-lock-", "/s/locks/x-lock-")
		in([]string{`/app/s/locks lock 1 of 0: 1+0+0 mutex held ""`}, "/s/locks/x-lock-")
		in([]string{`/app/s semaphore 1 of 0: 0+1+0 semaphore waiting ""`}, "/s/leases/other", "/s/locks/x-lock-")
		in([]string{`/app/a.key election 1 of 0: 1+0+0 leader held "10.0.0.1"`}, "/a.key/latch-")
		in([]string{`/app run 2 of 0: 2+0+0 mutex held ""`, `/app/x.tick lock 1 of 0: 1+0+0 mutex held ""`}, "/a.key/lock-", "/b.key/lock-", "/x.tick/lock-")
		in([]string{`/app stripe 1 of 0: 1+1+0 reader held ""`}, "/stripe-0007/__READ__", "/stripe-0007/lock-")
	})
}

// One listing for each node, and reads of the head, of the next one and of a size, but
// not of others.
func TestWhatLocksCost(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c", func(cfg *framework.Config) { cfg.MaxReplyBytes = 1 << 20 })
		for range 10_000 {
			foreign(t, a, "/locks/busy/lock-")
		}
		require.Equal(t, map[zktest.Op]int{zktest.OpGetChildren2: 3, zktest.OpGetData: 1, zktest.OpExists: 1}, w.Requests(func() {
			require.Equal(t, 9_999, locksBelow(t, c, "/").Locks[0].Waiting)
		}))
		held := w.Acquire(permitsAt(t, a, "/locks/s", "a", 1, nil))
		at := w.Start(permitsAt(t, b, "/locks/s", "b", 1, nil), lease.Forever)
		require.Equal(t, map[zktest.Op]int{zktest.OpGetChildren2: 6, zktest.OpGetData: 3, zktest.OpExists: 2}, w.Requests(func() {
			require.Len(t, locksBelow(t, c, "/").Locks, 2)
		}))
		ends(t, []*lease.Lease{held}, at)
	})
}

// A lock-delay stores when a lease was granted.
func TestWhenALockWasGranted(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held, next := w.Acquire(delayed(w, "a")), w.Start(delayed(w, "b"), lease.Forever)
		joined := time.Now()
		w.After(time.Minute)
		require.NoError(t, held.Release())
		held = next.Granted()
		granted := time.Now()
		w.After(time.Minute)
		l := locksBelow(t, w.Client("c"), "/").Locks
		require.Len(t, l, 1, "the record is no lock")
		require.WithinDuration(t, joined, l[0].Head.Enqueued, time.Second/2)
		require.WithinDuration(t, granted, l[0].Granted, time.Second/2)
		require.Equal(t, l[0].Granted, l[0].HeldSince())
		require.NoError(t, held.Release())

		// The name is another program's.
		create(t, w.Named("a"), "lock-delay/x-lock-0000000009", "x-lock-0000000009")
		l = locksBelow(t, w.Named("c"), "/").Locks
		require.Zero(t, l[0].Granted)
	})
}
