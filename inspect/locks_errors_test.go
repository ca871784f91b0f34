package inspect_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// inUse takes all kinds of locks below /locks, so that Locks makes each kind of
// request.
func inUse(t *testing.T, w *conformance.World) (end func()) {
	t.Helper()
	a, b := w.Client("a"), w.Client("b")
	held := []*lease.Lease{w.Acquire(delayed(w, "a"))}
	waiting := []*conformance.Attempt{w.Start(delayed(w, "b"), lease.Forever)}
	for name, layout := range semaphores {
		path := "/locks/" + name[:3]
		held = append(held, w.Acquire(permitsAt(t, a, path, "a", 1, layout)))
		waiting = append(waiting, w.Start(permitsAt(t, b, path, "b", 1, layout), lease.Forever))
	}
	foreign(t, a, "/locks/stripes/stripe-0001/lock-")
	return func() { ends(t, held, waiting...) }
}

func TestLocksThatFail(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		for _, path := range []string{"", "x", "/x/", "/locks/lock-0000000001", "/locks/lock-delay"} {
			_, err := inspect.Locks(t.Context(), c, path)
			require.ErrorIs(t, err, framework.ErrInvalidPath, path)
		}
		_, err := inspect.Locks(t.Context(), nil, "/")
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		end := inUse(t, w)
		for op, n := range w.Requests(func() { locksBelow(t, c, "/locks") }) {
			for i := range n {
				rule := w.Server.On(op, "/locks").Client("c").Nth(i + 1).Before()
				rule.Fail(zktest.BadArguments)
				found, err := inspect.Locks(t.Context(), c, "/locks")
				require.Error(t, err, "%v %d", op, i+1)
				require.ErrorContains(t, err, "/locks")
				require.Nil(t, found)
				rule.Remove()
			}
		}
		end()
		require.NoError(t, c.Close())
		_, err = inspect.Locks(t.Context(), c, "/locks")
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

// What may not be read is named, whichever request finds out. A lock whose head says
// nothing is still counted.
func TestWhatLocksMayNotRead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		end := inUse(t, w)
		all := locksBelow(t, c, "/locks")
		require.Len(t, all.Locks, 4)
		for op, n := range w.Requests(func() { locksBelow(t, c, "/locks") }) {
			for i := range n {
				rule := w.Server.On(op, "/locks").Client("c").Nth(i + 1).Before()
				rule.Fail(zktest.NoAuth)
				found, err := inspect.Locks(t.Context(), c, "/locks")
				require.NoError(t, err, "%v %d", op, i+1)
				require.Len(t, found.Unreadable, 1, "%v %d", op, i+1)
				if op != zktest.OpGetChildren2 {
					require.Len(t, found.Locks, 4, "%v %d", op, i+1)
				}
				for _, l := range found.Locks {
					require.NotZero(t, l.Holding+l.Unknown, "%v %d", op, i+1)
					require.NotEmpty(t, l.Head.Node)
				}
				rule.Remove()
			}
		}
		end()
	})
}

// Of lists that are asked for side by side, each one may be that which may not be read.
func TestListsThatMayNotBeRead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		end := inUse(t, w)
		for path, shown := range map[string]int{
			"/locks":                     0, // all are below
			"/locks/Cur":                 3, // without the one in two queues
			"/locks/Cur/leases":          3, // who holds is not known
			"/locks/Cur/locks":           4, // who waits is not known
			"/locks/sin":                 3,
			"/locks/stripes":             3,
			"/locks/stripes/stripe-0001": 3,
		} {
			rule := w.Server.On(zktest.OpGetChildren2, path).Client("c").Nth(1).Before()
			rule.Fail(zktest.NoAuth)
			found := locksBelow(t, c, "/locks")
			require.Equal(t, []string{path}, found.Unreadable)
			require.Len(t, found.Locks, shown, path)
			for _, l := range found.Locks {
				require.NotZero(t, l.Holding+l.Unknown, "%s without %s", l.Path, path)
			}
			rule.Remove()
		}
		end()
	})
}

// What has left when it is read is left out. The next one is the head then.
func TestLocksWhoseHeadLeaves(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes []string // below /l, the first of which leave
		leave int
		want  []string
	}{
		"a mutex":             {[]string{"x-lock-", "y-lock-", "z-lock-"}, 1, []string{`/l lock 1 of 0: 1+1+0 mutex held ""`}},
		"all":                 {[]string{"x-lock-", "y-lock-"}, 2, nil},
		"a writer":            {[]string{"__WRIT__", "__READ__", "__READ__"}, 1, []string{`/l lock 1 of 0: 2+0+0 reader held ""`}},
		"a permit":            {[]string{"leases/lease-", "leases/lease-", "locks/lock-"}, 1, []string{`/l semaphore 1 of 0: 1+1+0 semaphore held ""`}},
		"all permits":         {[]string{"leases/lease-", "locks/lock-"}, 1, []string{`/l semaphore 1 of 0: 0+1+0 semaphore waiting ""`}},
		"more than are read":  {slices.Repeat([]string{"lock-"}, 10), 9, []string{`/l lock 1 of 0: 1+2+0 mutex held ""`}},
		"of an unknown size":  {[]string{"permits-1-", "permits-1-"}, 1, []string{`/l semaphore 1 of 0: 0+0+1 semaphore unknown ""`}},
		"a stripe, of two":    {[]string{"stripe-0001/lock-", "stripe-0002/lock-"}, 1, []string{`/l stripe 1 of 0: 1+0+0 mutex held ""`}},
		"a run, the only one": {[]string{"a.key/lock-"}, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, c := w.Client("a"), w.Client("c")
				var made []string
				for _, node := range tc.nodes {
					require.NoError(t, a.CreateParents(t.Context(), "/l/"+node))
					created, err := a.Create(t.Context(), "/l/"+node, nil, framework.EphemeralSequential)
					require.NoError(t, err)
					made = append(made, created.Path)
				}
				w.Server.On(zktest.OpGetData, made[0]).Client("c").Before().Delay(time.Second)
				time.AfterFunc(time.Second/2, func() { // they are listed by then
					for _, path := range made[:tc.leave] {
						_ = a.Delete(t.Context(), path, framework.AnyVersion)
					}
				})
				found := locksBelow(t, c, "/")
				require.Equal(t, tc.want, locksIn(found))
				for _, l := range found.Locks {
					waitsForAPermit := l.Recipe == inspect.Semaphore && l.Head.State == inspect.Waiting
					require.Equal(t, waitsForAPermit || name == "more than are read", l.Head.Token == 0)
				}
			})
		})
	}
}
