package conformance

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows in which the server refuses requests, or the parents hold unrelated nodes.
var refusals = rows{
	"unrelated children are ignored":    unrelatedChildren,
	"the path is deleted":               pathIsDeleted,
	"the server refuses each operation": serverRefuses,
}

// notOurs are names that no recipe uses.
var notOurs = []string{
	"abc", "0abc", "x-lock-", "lock-", "lock-1", "lock-00000000001", "lock-000000000x", "_c_x", "_c_x-lock-", "lock-0000000000.bak", "0000000000",
	"__READ__000000000", "__WRIT__", "x-__WRIT__1", "_c_x-__READ__", "__WRIT__0000000000.bak", "__rlock__0000000000",
	"latch-1", "x-latch-", "lease-", "x-lease-1", "0123456789abcdef0123456789abcdef",
}

// unrelatedChildren makes nodes of other names beside those of the recipe.
func unrelatedChildren(t *testing.T, w *World, r Recipe) {
	a, operator := r.New(w.Client("a"), path), w.Client("operator")
	ahead := func() int {
		var timeout *lease.TimeoutError
		require.ErrorAs(t, w.Start(a, time.Second).Failed(), &timeout)
		return timeout.Ahead
	}
	held := fill(w, r)
	before := ahead()
	parents := map[string]bool{path: true}
	for _, node := range w.Ephemerals("/") {
		parents[filepath.Dir(node)] = true
	}
	var made []string
	for parent := range parents {
		for _, name := range append(slices.Clone(notOurs), r.Foreign[strings.TrimPrefix(parent, path)]...) {
			made = append(made, parent+"/"+name)
			_, err := operator.Create(t.Context(), parent+"/"+name, []byte("?"), framework.Persistent)
			require.NoError(t, err)
		}
	}
	require.Equal(t, before, ahead())
	at := w.Start(a, lease.Forever)
	require.True(t, at.Waiting())
	release(t, held...)
	release(t, at.Granted())
	release(t, w.Start(a, 0).Granted())
	for _, node := range made {
		w.Remove(operator, node)
	}
}

// serverRefuses has the server refuse each operation, for good or for some time, to an
// Acquire that need not wait and to one that has to. Acquire returns the first error,
// also if a delete is refused for some time.
func serverRefuses(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData, zktest.OpMulti} {
		for code, want := range map[zktest.Code]error{
			zktest.NoAuth: framework.ErrNoAuth, zktest.BadArguments: framework.ErrInvalidArgument, zktest.RuntimeInconsistency: lease.ErrTimeout,
		} {
			if code == zktest.RuntimeInconsistency && op != zktest.OpGetChildren2 && op != zktest.OpGetData {
				continue // an operation that is repeated takes no time here
			}
			held := fill(w, r)
			refused := w.Server.On(op, path).Client("a").Optional().Always().Fail(code)
			stays := w.Server.On(zktest.OpDelete, path).Client("a").Optional().Fail(zktest.BadVersion)
			at := w.Start(r.New(c, path), 20*time.Second)
			w.After(SessionTimeout) // so that a grant needs a transaction
			if at.Waiting() {       // the operation is part of the grant
				release(t, held...)
				held = nil
				w.After(15 * time.Second)
			}
			require.True(t, Closed(refused.Fired()), "%v", op)
			if held == nil && code == zktest.RuntimeInconsistency && op == zktest.OpGetData && !at.Waiting() && at.Err == nil {
				release(t, at.Granted()) // by a listing: reads are only for the watches
			} else {
				require.ErrorIs(t, at.Failed(), want, "%v %v", op, code)
				require.NotErrorIs(t, at.Err, framework.ErrBadVersion)
			}
			refused.Remove()
			stays.Remove()
			w.After(time.Second)
			release(t, held...)
			w.Settle()
			require.Empty(t, w.Ephemerals("/"), "%v %v", op, code)
			release(t, w.Acquire(r.New(c, path)))
		}
	}
}

// pathIsDeleted deletes the whole path under holders and waiters.
func pathIsDeleted(t *testing.T, w *World, r Recipe) {
	operator := w.Client("operator")
	for range 3 {
		held := fill(w, r)
		var waiting []*Attempt
		for range 3 {
			waiting = append(waiting, w.Start(r.New(w.Named("a"), path), lease.Forever))
		}
		w.After(time.Second)
		require.NoError(t, operator.DeleteTree(t.Context(), "/conformance"))
		w.After(time.Second)
		for _, l := range held {
			require.ErrorIs(t, l.Err(), lease.ErrDeleted)
			require.ErrorIs(t, l.Release(), lease.ErrLost)
		}
		for range waiting { // in any order
			for _, at := range waiting {
				if at.Waiting() {
					continue
				}
				// The deletion may have struck it, too.
				if err := at.Granted().Release(); !errors.Is(err, lease.ErrReleased) && !errors.Is(err, lease.ErrLost) {
					require.NoError(t, err)
				}
				w.Settle()
			}
		}
		for _, at := range waiting {
			require.False(t, at.Waiting())
		}
		w.After(SessionTimeout)
		require.Empty(t, w.Ephemerals("/"))
	}
}
