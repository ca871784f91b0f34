package framework_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// operation is one call of every kind that a client can make.
type operation struct {
	op     zktest.Op // what it is on the wire
	path   string    // what its errors name
	text   string    // how its errors begin
	writes bool
	call   func(ctx context.Context, c *framework.Client) error
}

var operations = map[string]operation{
	"create": {zktest.OpCreate, "/new", "create /new: ", true, func(ctx context.Context, c *framework.Client) error {
		_, err := c.Create(ctx, "/new", nil, framework.Persistent)
		return err
	}},
	"create ephemeral sequential": {zktest.OpCreate, "/new-", "create /new-: ", true, func(ctx context.Context, c *framework.Client) error {
		_, err := c.Create(ctx, "/new-", nil, framework.EphemeralSequential)
		return err
	}},
	"create container": {zktest.OpCreateContainer, "/new", "create /new: ", true, func(ctx context.Context, c *framework.Client) error {
		_, err := c.Create(ctx, "/new", nil, framework.Container)
		return err
	}},
	"create with time to live": {zktest.OpCreateTTL, "/new", "create /new: ", true, func(ctx context.Context, c *framework.Client) error {
		_, err := c.Create(ctx, "/new", nil, framework.Persistent, framework.WithTTL(time.Hour))
		return err
	}},
	"delete": {zktest.OpDelete, "/old", "delete /old: ", true, func(ctx context.Context, c *framework.Client) error {
		return c.Delete(ctx, "/old", framework.AnyVersion)
	}},
	"set": {zktest.OpSetData, "/old", "set /old: ", true, func(ctx context.Context, c *framework.Client) error {
		_, err := c.Set(ctx, "/old", []byte("x"), framework.AnyVersion)
		return err
	}},
	"set acl": {zktest.OpSetACL, "/old", "setACL /old: ", true, func(ctx context.Context, c *framework.Client) error {
		_, err := c.SetACL(ctx, "/old", framework.WorldACL(framework.PermAll), framework.AnyVersion)
		return err
	}},
	"multi": {zktest.OpMulti, "", "multi: ", true, func(ctx context.Context, c *framework.Client) error {
		_, err := c.Multi(ctx, framework.SetOp("/old", nil, framework.AnyVersion), framework.DeleteOp("/old", framework.AnyVersion))
		return err
	}},
	"get": {zktest.OpGetData, "/old", "get /old: ", false, func(ctx context.Context, c *framework.Client) error {
		_, _, err := c.Get(ctx, "/old")
		return err
	}},
	"get with watch": {zktest.OpGetData, "/old", "get /old: ", false, func(ctx context.Context, c *framework.Client) error {
		_, _, _, err := c.GetWatch(ctx, "/old")
		return err
	}},
	"get acl": {zktest.OpGetACL, "/old", "getACL /old: ", false, func(ctx context.Context, c *framework.Client) error {
		_, _, err := c.GetACL(ctx, "/old")
		return err
	}},
	"exists": {zktest.OpExists, "/old", "exists /old: ", false, func(ctx context.Context, c *framework.Client) error {
		_, _, err := c.Exists(ctx, "/old")
		return err
	}},
	"exists with watch": {zktest.OpExists, "/old", "exists /old: ", false, func(ctx context.Context, c *framework.Client) error {
		_, _, _, err := c.ExistsWatch(ctx, "/old")
		return err
	}},
	"children": {zktest.OpGetChildren2, "/old", "children /old: ", false, func(ctx context.Context, c *framework.Client) error {
		_, _, err := c.Children(ctx, "/old")
		return err
	}},
	"children with watch": {zktest.OpGetChildren2, "/old", "children /old: ", false, func(ctx context.Context, c *framework.Client) error {
		_, _, _, err := c.ChildrenWatch(ctx, "/old")
		return err
	}},
	"sync": {zktest.OpSync, "/old", "sync /old: ", false, func(ctx context.Context, c *framework.Client) error {
		return c.Sync(ctx, "/old")
	}},
}

// applied counts how often a server carried the operation out. The client's own syncs
// are on another path.
func (o operation) applied(s *zktest.Server) int {
	n := 0
	for _, e := range s.Trace() {
		if e.Op == o.op && e.Phase == zktest.PhaseAfterApply && e.Action == zktest.Pass && strings.HasPrefix(e.Path, o.path) {
			n++
		}
	}
	return n
}

// forEachOperation runs a test with every operation, each with a server of its own.
func forEachOperation(t *testing.T, test func(t *testing.T, s *zktest.Server, c *framework.Client, o operation)) {
	t.Helper()
	t.Parallel()
	for name, o := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				_, err := c.Create(t.Context(), "/old", nil, framework.Persistent)
				require.NoError(t, err)
				test(t, s, c, o)
			})
		})
	}
}

// named asserts that an error tells which operation on which path failed.
func named(t *testing.T, err error, o operation) {
	t.Helper()
	require.Error(t, err)
	var op *framework.OpError
	require.ErrorAs(t, err, &op)
	assert.Equal(t, o.path, op.Path)
	assert.Contains(t, err.Error(), o.text)
}

func TestOperationSucceeds(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		err := o.call(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, framework.Done, framework.OutcomeOf(err))
		assert.Equal(t, 1, o.applied(s))
	})
}

func TestOperationRefusedByTheServer(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		s.On(o.op, o.path).Fail(zktest.NoAuth)
		err := o.call(t.Context(), c)
		named(t, err, o)
		require.ErrorIs(t, err, framework.ErrNoAuth)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
		assert.NotErrorIs(t, err, framework.ErrUnknownOutcome)
		assert.Equal(t, connected, c.State())
	})
}

// A refusal that may pass is not reported: the operation is tried again.
func TestOperationRefusedForNow(t *testing.T) {
	for name, code := range map[string]zktest.Code{"throttled": zktest.ThrottledOp, "moved": zktest.SessionMoved} {
		t.Run(name, func(t *testing.T) {
			forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
				s.On(o.op, o.path).Fail(code)
				require.NoError(t, o.call(t.Context(), c))
				assert.Equal(t, 2, o.applied(s))
			})
		})
	}
}

func TestOperationWhoseAnswerIsDropped(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		s.On(o.op, o.path).After().Cut()
		err := o.call(t.Context(), c)
		time.Sleep(timeout / 2) // for a repetition that must not come
		if !o.writes {
			require.NoError(t, err)
			assert.Equal(t, 2, o.applied(s))
			return
		}
		named(t, err, o)
		require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		assert.Equal(t, framework.Unknown, framework.OutcomeOf(err))
		assert.Contains(t, err.Error(), "outcome unknown")
		assert.Equal(t, 1, o.applied(s))
	})
}

func TestOperationCutBeforeItIsApplied(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		before := s.Zxid()
		s.On(o.op, o.path).Cut()
		err := o.call(t.Context(), c)
		time.Sleep(timeout / 2)
		if !o.writes {
			require.NoError(t, err)
			assert.Equal(t, 1, o.applied(s))
			return
		}
		named(t, err, o)
		require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		assert.Equal(t, 0, o.applied(s))
		assert.Equal(t, before, s.Zxid(), "nothing may come later")
	})
}

func TestOperationWhoseContextEndsInFlight(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		s.On(o.op, o.path).Delay(time.Second)
		r := <-startErr(func() error { return o.call(within(t, 500*time.Millisecond), c) })
		named(t, r.err, o)
		assert.Equal(t, 500*time.Millisecond, r.took)
		require.ErrorIs(t, r.err, errStopped)
		require.ErrorIs(t, r.err, framework.ErrUnknownOutcome)
		assert.Equal(t, framework.Unknown, framework.OutcomeOf(r.err))
		time.Sleep(2 * time.Second)
		assert.Equal(t, connected, c.State())
		assert.NoError(t, c.Session().Err())
	})
}

func TestOperationWhoseContextHasEnded(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStopped)
		err := o.call(ctx, c)
		named(t, err, o)
		require.ErrorIs(t, err, errStopped)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
		time.Sleep(time.Second)
		assert.Equal(t, 0, o.applied(s))
	})
}

// The session is expired by the server with the request under way. All that can be
// known then is that the connection broke; a read finds out more.
func TestOperationWhoseSessionExpiresInFlight(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		old := c.Session()
		s.On(o.op, o.path).Expire()
		err := o.call(t.Context(), c.In(old))
		named(t, err, o)
		if o.writes {
			require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		} else {
			require.ErrorIs(t, err, framework.ErrSessionExpired)
		}
		time.Sleep(2 * time.Second)
		require.NotEqual(t, old.ID(), c.Session().ID())
		assert.Equal(t, 0, o.applied(s), "and not in the next session")
		err = o.call(t.Context(), c.In(old))
		named(t, err, o)
		require.ErrorIs(t, err, framework.ErrSessionLost)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
		require.NoError(t, o.call(t.Context(), c))
	})
}

func TestOperationAnsweredThatTheSessionHasExpired(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		old := c.Session()
		s.On(o.op, o.path).Fail(zktest.SessionExpired)
		err := o.call(t.Context(), c.In(old))
		named(t, err, o)
		require.ErrorIs(t, err, framework.ErrSessionExpired)
		assert.NotErrorIs(t, err, framework.ErrUnknownOutcome)
		assert.ErrorIs(t, old.Err(), framework.ErrSessionExpired)
		require.NoError(t, o.call(t.Context(), c), "an unpinned one goes on in the next session")
	})
}

func TestOperationWithTheClientClosedInFlight(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		lost := s.On(o.op, o.path).DropReply()
		call := startErr(func() error { return o.call(t.Context(), c) })
		<-lost.Fired() // a first watch comes a little later than other requests
		synctest.Wait()
		closed := time.Now()
		require.NoError(t, c.Close())
		r := <-call
		named(t, r.err, o)
		assert.LessOrEqual(t, time.Since(closed), 10*time.Millisecond)
		require.ErrorIs(t, r.err, framework.ErrClosed)
		if o.writes {
			require.ErrorIs(t, r.err, framework.ErrUnknownOutcome)
		}
		err := o.call(t.Context(), c)
		named(t, err, o)
		require.ErrorIs(t, err, framework.ErrClosed)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
	})
}

func TestOperationWhileNoServerAnswers(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		suspend(s, "client")
		r := <-startErr(func() error { return o.call(within(t, time.Second), c) })
		assert.Equal(t, time.Second, r.took)
		named(t, r.err, o)
		require.ErrorIs(t, r.err, errStopped)
		require.ErrorIs(t, r.err, framework.ErrNotConnected)
		assert.Contains(t, r.err.Error(), s.Addr())
		assert.Contains(t, r.err.Error(), "refused")
		assert.Equal(t, framework.Failed, framework.OutcomeOf(r.err))
		assert.NotErrorIs(t, r.err, framework.ErrUnknownOutcome)

		call := startErr(func() error { return o.call(t.Context(), c) })
		time.Sleep(time.Second)
		reach(s, "client")
		require.NoError(t, (<-call).err, "a call that waits longer succeeds")
		assert.Equal(t, 1, o.applied(s))
	})
}

func TestOperationOnABadPath(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		s.ResetCounts()
		for _, path := range []string{"", "relative", "/ends/", "//", "/a//b", "/a/./b", "/..", "/a\x00", "/\xff", "/a\u0085"} {
			for name, call := range map[string]func() error{
				"create":           func() error { _, err := c.Create(t.Context(), path, nil, framework.Persistent); return err },
				"delete":           func() error { return c.Delete(t.Context(), path, 0) },
				"deleteGuaranteed": func() error { return c.DeleteGuaranteed(t.Context(), path) },
				"deleteTree":       func() error { return c.DeleteTree(t.Context(), path) },
				"set":              func() error { _, err := c.Set(t.Context(), path, nil, 0); return err },
				"get":              func() error { _, _, err := c.Get(t.Context(), path); return err },
				"getWatch":         func() error { _, _, _, err := c.GetWatch(t.Context(), path); return err },
				"children":         func() error { _, _, err := c.Children(t.Context(), path); return err },
				"sync":             func() error { return c.Sync(t.Context(), path) },
				"getACL":           func() error { _, _, err := c.GetACL(t.Context(), path); return err },
				"multi":            func() error { _, err := c.Multi(t.Context(), framework.DeleteOp(path, 0)); return err },
				"createParents":    func() error { return c.CreateParents(t.Context(), path+"/x") },
			} {
				err := call()
				if name == "createParents" && path == "" {
					continue // "/x" is fine
				}
				require.ErrorIs(t, err, framework.ErrInvalidPath, "%s %q", name, path)
				assert.Equal(t, framework.Failed, framework.OutcomeOf(err), "%s %q", name, path)
			}
			for _, mode := range []framework.Mode{framework.EphemeralSequential, framework.PersistentSequential} {
				if path == "/ends/" {
					continue // a name that is the number alone
				}
				_, err := c.CreateProtected(t.Context(), path, nil, mode)
				require.ErrorIs(t, err, framework.ErrInvalidPath, "protected %q", path)
			}
		}
		assert.Empty(t, requests(s), "nothing was sent")
	})
}

func TestErrorOfAnOperationTellsAllThereIsToKnow(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		_, _, err := c.Get(t.Context(), "/missing")
		var op *framework.OpError
		require.ErrorAs(t, err, &op)
		assert.Equal(t, "get", op.Op)
		assert.Equal(t, "/missing", op.Path)
		assert.Equal(t, c.Session().ID(), op.Session)
		assert.Regexp(t, `^get /missing: node does not exist \(session 0x[0-9a-f]+\)$`, err.Error())
		assert.Equal(t, framework.Unknown, framework.OutcomeOf(errors.New("of another package")))
	})
}
