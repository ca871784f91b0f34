package inspect_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestSurveyOfAPathThatDoesNotExist(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		require.Equal(t, &inspect.Survey{}, survey(t, w.Client("a")))
		_, created := w.Server.Node("/locks")
		require.False(t, created, "a survey creates nothing")
	})
}

func TestSurveyOfAMutex(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var all []*mutex.Mutex
		for _, name := range []string{"a", "b"} {
			m, err := mutex.New(w.Client(name), path, mutex.WithHolder(name))
			require.NoError(t, err)
			all = append(all, m)
		}
		held := w.Acquire(all[0])
		waiting := w.Start(all[1], lease.Forever)

		c := w.Client("c")
		s := survey(t, c)
		require.True(t, s.Exists)
		require.Equal(t, []string{"lock 1 mutex held", "lock 2 mutex waiting"}, states(s))
		require.Nil(t, s.Permits)
		require.Empty(t, s.Others)
		first, second := s.Queues[0].Contenders[0], s.Queues[0].Contenders[1]
		require.Equal(t, held.Token(), first.Token)
		require.Equal(t, held.Path(), first.Path)
		require.Equal(t, "a", first.Holder.Who)
		require.True(t, first.Holding)
		require.Equal(t, "b", second.Holder.Who)
		require.False(t, second.Holding)

		require.NoError(t, held.Release())
		require.NoError(t, waiting.Granted().Release())
		require.Equal(t, &inspect.Survey{Exists: true, Others: []string{}}, survey(t, c))
	})
}

func TestSurveyOfAReadWriteLock(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l, err := rwlock.New(w.Client("a"), path)
		require.NoError(t, err)
		readers := []*lease.Lease{w.Acquire(l.Read()), w.Acquire(l.Read())}
		writer, late := w.Start(l.Write(), lease.Forever), w.Start(l.Read(), lease.Forever)
		require.Equal(t, []string{"lock 1 reader held", "lock 2 reader held", "lock 3 writer waiting", "lock 4 reader waiting"}, states(survey(t, w.Client("b"))))
		for _, held := range readers {
			require.NoError(t, held.Release())
		}
		require.NoError(t, writer.Granted().Release())
		require.NoError(t, late.Granted().Release())
	})
}

func TestSurveyOfAnElection(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		e, err := leader.New(w.Client("a"), path, leader.WithID("one"))
		require.NoError(t, err)
		term, waiting := w.Acquire(e), w.Start(e, lease.Forever)
		s := survey(t, w.Client("b"))
		require.Equal(t, []string{"election 1 leader held", "election 2 leader waiting"}, states(s))
		require.Equal(t, "one", s.Queues[0].Contenders[1].Holder.Who)
		require.NoError(t, term.Release())
		require.NoError(t, waiting.Granted().Release())
	})
}

// Clients that do not refuse a path in use may have several queues there.
func TestSurveyOfAMixedPath(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "latch-0000000004", "lock-0000000001", "__READ__0000000002", "latch-0000000003", "lock-5", "leases/_c_x-lease-0000000000", "permits-2-0000000007", "a")
		s := survey(t, c)
		require.Equal(t, []string{
			"lock 1 mutex held", "lock 2 reader waiting", "election 1 leader held", "election 2 leader waiting",
			"semaphore 1 semaphore held", "semaphore 1 semaphore unknown",
		}, states(s))
		require.Equal(t, "me", s.Queues[1].Contenders[0].Holder.Who)
		require.Equal(t, &inspect.Permits{}, s.Permits)
		require.Equal(t, []string{"a", "lock-5"}, s.Others)
	})
}

// The path is that of the client's view, and so are those of the contenders.
func TestSurveyThroughAView(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "lock-0000000001")
		view, err := c.Namespace("locks")
		require.NoError(t, err)
		s, err := inspect.Path(t.Context(), view, "/orders")
		require.NoError(t, err)
		require.Equal(t, []string{"lock 1 mutex held"}, states(s))
		require.Equal(t, "/orders/lock-0000000001", s.Queues[0].Contenders[0].Path)
	})
}

func TestWhatASurveyCosts(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "lock-0000000001", "lock-0000000002", "latch-0000000003")
		asked := w.Requests(func() { survey(t, c) })
		require.Equal(t, map[zktest.Op]int{zktest.OpGetChildren2: 1, zktest.OpGetData: 3}, asked)
		require.Equal(t, 1, w.Server.Count(zktest.OpSync))

		create(t, c, "locks/lock-0000000001", "leases/lease-0000000000")
		_, err := c.Set(t.Context(), path, znode.Size(2), framework.AnyVersion)
		require.NoError(t, err)
		asked = w.Requests(func() { survey(t, c) })
		require.Equal(t, map[zktest.Op]int{zktest.OpGetChildren2: 1 + 2, zktest.OpGetData: 5 + 1}, asked)
		require.Equal(t, 1, w.Server.Count(zktest.OpSync))
	})
}

// What comes and goes while a survey is under way.
func TestSurveyOfAPathThatChanges(t *testing.T) {
	gone := func(t *testing.T, c *framework.Client, names ...string) {
		for _, name := range names {
			require.NoError(t, c.DeleteTree(t.Context(), path+name))
		}
	}
	for name, tc := range map[string]struct {
		op     zktest.Op
		at     string
		change func(t *testing.T, c *framework.Client)
		states []string
		others []string
	}{
		"a contender leaves before it is read": {
			zktest.OpGetData, "/lock-0000000001", func(t *testing.T, c *framework.Client) { gone(t, c, "/lock-0000000001") },
			[]string{"lock 1 mutex waiting", "semaphore 1 semaphore waiting"}, []string{"other"},
		},
		"all leave before they are read": {
			zktest.OpGetData, "/", func(t *testing.T, c *framework.Client) { gone(t, c, "") }, nil, []string{"other"},
		},
		"the path goes before it is listed": {
			zktest.OpGetChildren2, "", func(t *testing.T, c *framework.Client) { gone(t, c, "") }, nil, nil,
		},
		"the queue of a semaphore goes before it is listed": {
			zktest.OpGetChildren2, "/locks", func(t *testing.T, c *framework.Client) { gone(t, c, "/locks", "/leases") },
			[]string{"lock 1 mutex held", "lock 2 mutex waiting"}, []string{"other"},
		},
		"who waits gets a permit before it is read": {
			zktest.OpGetData, "/locks/lock-0000000003", func(t *testing.T, c *framework.Client) {
				create(t, c, "leases/lease-0000000004")
				gone(t, c, "/locks/lock-0000000003")
			},
			[]string{"lock 1 mutex held", "lock 2 mutex waiting", "semaphore 1 semaphore held"}, []string{"other"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				c, other := w.Client("a"), w.Client("other")
				create(t, other, "other", "lock-0000000001", "lock-0000000002", "locks/lock-0000000003")
				require.NoError(t, other.CreateParents(t.Context(), path+"/leases/x"))
				w.Server.On(tc.op, path+tc.at).Client("a").Before().Delay(time.Second)
				time.AfterFunc(time.Second/2, func() { tc.change(t, other) })
				s := survey(t, c)
				require.Equal(t, tc.states, states(s))
				require.Equal(t, tc.others, s.Others)
			})
		})
	}
}

func TestSurveyThatFails(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for path, want := range map[string]error{"/": framework.ErrInvalidPath, "x": framework.ErrInvalidPath, "/locks/lock-0000000001": framework.ErrInvalidPath} {
			_, err := inspect.Path(t.Context(), c, path)
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "inspect: ")
		}
		_, err := inspect.Path(t.Context(), nil, path)
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		create(t, c, "lock-0000000001", "latch-0000000002", "leases/lease-0000000003", "permits-1-0000000004")
		// Whichever request is refused.
		reads := w.Requests(func() { survey(t, c) })
		for op, n := range reads {
			for i := range n {
				rule := w.Server.On(op, path).Nth(i + 1).Before()
				rule.Fail(zktest.NoAuth)
				s, err := inspect.Path(t.Context(), c, path)
				require.ErrorIs(t, err, framework.ErrNoAuth, "%v %d", op, i+1)
				require.ErrorContains(t, err, path)
				require.Nil(t, s)
				rule.Remove()
			}
		}
		require.NoError(t, c.Close())
		_, err = inspect.Path(t.Context(), c, path)
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

// A slot that was handed over within a session shows as before until its node is
// deleted.
func TestSurveyOfASlotThatIsHandedOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m, err := mutex.New(w.Client("a"), path)
		require.NoError(t, err)
		held := w.Acquire(m)
		next := w.Start(m, lease.Forever)
		w.After(100 * time.Millisecond)
		w.Server.On(zktest.OpDelete, held.Path()).Client("a").Delay(500 * time.Millisecond)
		freed := make(chan error, 1)
		go func() { freed <- held.Release() }()
		got := next.Granted()
		s := survey(t, w.Client("b"))
		require.Equal(t, []string{"lock 1 mutex held", "lock 2 mutex waiting"}, states(s))
		require.Equal(t, held.Path(), s.Queues[0].Contenders[0].Path)
		require.NoError(t, <-freed)
		require.Equal(t, []string{"lock 1 mutex held"}, states(survey(t, w.Known("b"))))
		require.NoError(t, got.Release())
	})
}
