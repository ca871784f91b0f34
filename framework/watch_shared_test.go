package framework_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// watchReads are the reads that set a watch, of a node that exists.
var watchReads = map[string]struct {
	op   zktest.Op
	read func(ctx context.Context, c *framework.Client, path string) (*framework.Watch, error)
}{
	"get": {zktest.OpGetData, func(ctx context.Context, c *framework.Client, path string) (*framework.Watch, error) {
		_, _, w, err := c.GetWatch(ctx, path)
		return w, err
	}},
	"exists": {zktest.OpExists, func(ctx context.Context, c *framework.Client, path string) (*framework.Watch, error) {
		_, _, w, err := c.ExistsWatch(ctx, path)
		return w, err
	}},
	"children": {zktest.OpGetChildren2, func(ctx context.Context, c *framework.Client, path string) (*framework.Watch, error) {
		_, _, w, err := c.ChildrenWatch(ctx, path)
		return w, err
	}},
}

// Several wait for one node at once, and the read of the first does not do what the
// others may count on. Each read that succeeded gets an event for the end of the node.
func TestWatchersThatReadAtOnceAllHearOfAChange(t *testing.T) {
	for kind, r := range watchReads {
		for name, fault := range map[string]struct {
			phase zktest.Phase
			zktest.Action
		}{
			"answered late":    {zktest.PhaseAfterApply, zktest.Delay(time.Second)},
			"read late":        {zktest.PhaseBeforeApply, zktest.Delay(time.Second)},
			"cut":              {zktest.PhaseBeforeApply, zktest.CutConnection},
			"answer dropped":   {zktest.PhaseAfterApply, zktest.CutConnection},
			"throttled":        {zktest.PhaseBeforeApply, zktest.Fail(zktest.ThrottledOp)},
			"refused for good": {zktest.PhaseBeforeApply, zktest.Fail(zktest.NoAuth)},
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
					var reads atomic.Int32
					s.SetFaults(func(call zktest.Call) zktest.Action {
						if call.Client != "client" || call.Op != r.op || call.Path != "/node" {
							return zktest.Pass
						}
						if call.Phase == zktest.PhaseBeforeApply {
							reads.Add(1)
						}
						if call.Phase == fault.phase && reads.Load() == 1 {
							return fault.Action
						}
						return zktest.Pass
					})
					var calls []<-chan result[*framework.Watch]
					for i := range 6 {
						ctx := t.Context()
						if i%3 == 0 { // these do not wait that long
							ctx = within(t, 500*time.Millisecond)
						}
						calls = append(calls, start(func() (*framework.Watch, error) { return r.read(ctx, c, "/node") }))
						if i%2 == 0 {
							synctest.Wait()
						}
					}
					time.Sleep(3 * time.Second)
					var watches []*framework.Watch
					for i, call := range calls {
						if res := <-call; res.err == nil && i%3 != 0 {
							watches = append(watches, res.value)
						}
					}
					require.GreaterOrEqual(t, len(watches), 3)
					assert.Equal(t, 1, s.Watches())
					remove(t, other, "/node")
					for _, w := range watches {
						fired(t, w)
					}
					assert.Zero(t, s.Watches())
				})
			})
		}
	}
}

// The event comes while another read of the same node is under way, or has just been
// given up: the watch of that read is not the one that fired.
func TestWatchThatFiresWhileAnotherReadIsUnderWay(t *testing.T) {
	for kind, r := range watchReads {
		for _, leaves := range []bool{false, true} {
			t.Run(map[bool]string{false: kind, true: kind + ", given up"}[leaves], func(t *testing.T) {
				watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
					_, err := r.read(t.Context(), c, "/node")
					require.NoError(t, err)
					s.On(r.op, "/node").Client("client").Delay(time.Second)
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					under := start(func() (*framework.Watch, error) { return r.read(ctx, c, "/node") })
					synctest.Wait()
					change := func() {
						set(t, other, "/node")
						create(t, other, "/node/child")
						remove(t, other, "/node/child")
					}
					change()
					if leaves {
						cancel(errStopped)
					}
					time.Sleep(2 * time.Second)
					<-under
					w, err := r.read(t.Context(), c, "/node")
					require.NoError(t, err)
					require.Equal(t, 1, s.Watches())
					silent(t, w)
					again, err := r.read(t.Context(), c, "/node")
					require.NoError(t, err)
					change()
					fired(t, w)
					fired(t, again)
				})
			})
		}
	}
}

// A read that is given up while it is under way takes nothing from the others.
func TestWatcherThatLeavesTakesNothingFromOthers(t *testing.T) {
	for kind, r := range watchReads {
		t.Run(kind, func(t *testing.T) {
			watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
				s.On(r.op, "/node").Client("client").After().Delay(time.Second)
				first := start(func() (*framework.Watch, error) { return r.read(within(t, 500*time.Millisecond), c, "/node") })
				synctest.Wait()
				second := start(func() (*framework.Watch, error) { return r.read(t.Context(), c, "/node") })
				require.ErrorIs(t, (<-first).err, errStopped)
				res := <-second
				require.NoError(t, res.err)
				require.Equal(t, 1, s.Watches())
				remove(t, other, "/node")
				fired(t, res.value)
			})
		})
	}
}

// A recheck that comes while a read is under way is no event for that read, because its
// answer comes later; the change after that is.
func TestReadUnderWayWhenAllMustReadAgain(t *testing.T) {
	for kind, r := range watchReads {
		t.Run(kind, func(t *testing.T) {
			watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
				w, err := r.read(t.Context(), c, "/node")
				require.NoError(t, err)
				for range 3 {
					s.On(zktest.OpSetWatches, "").Fail(zktest.RuntimeInconsistency)
					s.DropConnections("client")
					synctest.Wait()
					calls := []<-chan result[*framework.Watch]{}
					for range 3 {
						calls = append(calls, start(func() (*framework.Watch, error) { return r.read(t.Context(), c, "/node") }))
					}
					time.Sleep(2 * time.Second)
					assert.Equal(t, framework.EventRecheck, fired(t, w).Type)
					var watches []*framework.Watch
					for _, call := range calls {
						res := <-call
						require.NoError(t, res.err)
						silent(t, res.value)
						watches = append(watches, res.value)
					}
					require.Equal(t, 1, s.Watches())
					w = watches[0]
				}
				remove(t, other, "/node")
				assert.Equal(t, framework.EventDeleted, fired(t, w).Type)
			})
		})
	}
}
