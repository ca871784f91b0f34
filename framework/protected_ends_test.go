package framework_test

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

type maker struct {
	op     zktest.Op
	create func(ctx context.Context, p place) error
}

// makers are the two ways to make protected nodes.
var makers = map[string]maker{
	"one": {zktest.OpCreate, func(ctx context.Context, p place) error {
		_, err := p.create(ctx)
		return err
	}},
	"several": {zktest.OpMulti, func(ctx context.Context, p place) error {
		_, err := kit.Of(p.Client).CreateProtectedAll(ctx, "/queue/n-", []byte("me"), 3, nil)
		return err
	}},
}

// forEachMaker runs a test with either way.
func forEachMaker(t *testing.T, test func(t *testing.T, p place, op zktest.Op, create func(context.Context) error), settings ...setting) {
	t.Helper()
	for name, m := range makers {
		t.Run(name, func(t *testing.T) {
			protect(t, func(t *testing.T, p place) {
				test(t, p, m.op, func(ctx context.Context) error { return m.create(ctx, p) })
			}, settings...)
		})
	}
}

// givesUp makes nodes that are left behind when the connection breaks and ctx ends.
func givesUp(t *testing.T, p place, op zktest.Op, create func(context.Context) error) (left int) {
	t.Helper()
	p.server.RefuseConnections("client", true)
	p.server.On(op, "").After().Cut()
	require.ErrorIs(t, create(within(t, time.Second)), framework.ErrUnknownOutcome)
	require.NotEmpty(t, p.nodes())
	return len(p.nodes())
}

// Each request of the search that follows a create that was given up may fail, and is
// made again until nothing is left.
func TestSearchForWhatWasLeftGoesOnWhenARequestOfItFails(t *testing.T) {
	none := func(cfg *framework.Config) { cfg.Retry = retry.None() } // the search itself repeats
	for name, fault := range map[string]zktest.Action{
		"cut": zktest.CutConnection, "throttled": zktest.Fail(zktest.ThrottledOp), "moved": zktest.Fail(zktest.SessionMoved),
	} {
		for _, op := range []zktest.Op{zktest.OpSync, zktest.OpGetChildren2, zktest.OpExists, zktest.OpDelete} {
			for n := int32(1); n <= 3; n++ {
				t.Run(fmt.Sprintf("%v %d %s", op, n, name), func(t *testing.T) {
					forEachMaker(t, func(t *testing.T, p place, made zktest.Op, create func(context.Context) error) {
						if left := givesUp(t, p, made, create); int(n) > left {
							return // there is no such request
						}
						var asked atomic.Int32
						p.server.SetFaults(func(call zktest.Call) zktest.Action {
							if call.Op == op && call.Path != "/" && call.Phase == zktest.PhaseBeforeApply && asked.Add(1) == n {
								return fault
							}
							return zktest.Pass
						})
						p.server.RefuseConnections("client", false)
						time.Sleep(5 * time.Second)
						assert.Empty(t, p.nodes())
						assert.NoError(t, p.Session().Err())
					}, none)
				})
			}
		}
	}
}

// That one node may not be removed is no reason to leave the others.
func TestNodeThatMayNotBeRemovedKeepsNoOther(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		givesUp(t, p, zktest.OpMulti, func(ctx context.Context) error { return makers["several"].create(ctx, p) })
		first := p.nodes()[0]
		p.server.On(zktest.OpDelete, p.FullPath("/queue/"+first)).Always().Fail(zktest.NoAuth)
		p.server.RefuseConnections("client", false)
		time.Sleep(5 * time.Second)
		assert.Equal(t, []string{first}, p.nodes())
	})
}

// After an attempt that is known to have had no effect, the next one may be refused,
// and then that is the answer: there is nothing to wait for.
func TestProtectedCreateThatIsRefusedAfterAnUnknownAttempt(t *testing.T) {
	for code, want := range map[zktest.Code]error{
		zktest.NoAuth: framework.ErrNoAuth, zktest.NoNode: framework.ErrNoNode, zktest.InvalidACL: framework.ErrInvalidACL,
		zktest.NoChildrenForEphemerals: framework.ErrNoChildrenForEphemerals,
		zktest.NodeExists:              nil, // by what is no longer there
	} {
		t.Run(code.String(), func(t *testing.T) {
			forEachMaker(t, func(t *testing.T, p place, op zktest.Op, create func(context.Context) error) {
				var sent atomic.Int32
				p.server.SetFaults(func(call zktest.Call) zktest.Action {
					if call.Op != op || call.Phase != zktest.PhaseBeforeApply {
						return zktest.Pass
					}
					switch sent.Add(1) {
					case 1:
						return zktest.CutConnection
					case 2:
						return zktest.Fail(code)
					}
					return zktest.Pass
				})
				err := create(within(t, timeout))
				if want == nil {
					require.NoError(t, err)
					assert.NotEmpty(t, p.nodes())
					assert.EqualValues(t, 3, sent.Load())
					return
				}
				require.ErrorIs(t, err, want)
				assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
				assert.EqualValues(t, 2, sent.Load())
				time.Sleep(timeout)
				assert.Empty(t, p.nodes())
				assert.EqualValues(t, 2, sent.Load())
			})
		})
	}
}

// Another client has deleted some of the nodes before they were found again: then the
// others are removed too.
func TestProtectedNodesThatAreNotFoundAllAreRemoved(t *testing.T) {
	for deleted := 1; deleted <= 2; deleted++ {
		t.Run(fmt.Sprintf("%d deleted", deleted), func(t *testing.T) {
			protect(t, func(t *testing.T, p place) {
				other := connectAs(t, p.server, "other")
				var stage atomic.Int32
				looking := make(chan struct{})
				p.server.SetFaults(func(call zktest.Call) zktest.Action {
					switch {
					case call.Client != "client":
					case call.Op == zktest.OpMulti && call.Phase == zktest.PhaseAfterApply && stage.CompareAndSwap(0, 1):
						return zktest.CutConnection
					case call.Op == zktest.OpSync && call.Path != "/" && call.Phase == zktest.PhaseBeforeApply && stage.CompareAndSwap(1, 2):
						close(looking)
						return zktest.Delay(time.Second)
					}
					return zktest.Pass
				})
				call := startErr(func() error { return makers["several"].create(t.Context(), p) })
				<-looking
				for _, node := range p.nodes()[:deleted] {
					require.NoError(t, other.Delete(t.Context(), p.FullPath("/queue/"+node), framework.AnyVersion))
				}
				r := <-call
				require.ErrorIs(t, r.err, framework.ErrNoNode)
				assert.Equal(t, framework.Failed, framework.OutcomeOf(r.err))
				time.Sleep(time.Second)
				assert.Empty(t, p.nodes())
			})
		})
	}
}

// The answer is dropped, and before the next step the context ends, or the session.
func TestProtectedCreateWhoseAnswerIsDroppedAtTheVeryEndLeavesNothing(t *testing.T) {
	for name, end := range map[string]func(p place, cancel context.CancelCauseFunc){
		"of its context": func(_ place, cancel context.CancelCauseFunc) { cancel(errStopped) },
		"of its session": func(p place, _ context.CancelCauseFunc) {
			old := p.Session()
			p.server.ExpireSession(old.ID())
			<-old.Done()
		},
	} {
		for _, mode := range []framework.Mode{framework.EphemeralSequential, framework.PersistentSequential} {
			t.Run(fmt.Sprintf("%s, %v", name, mode), func(t *testing.T) {
				var called func(framework.Request)
				t.Parallel()
				inBubble(t, func(t *testing.T, s *zktest.Server) {
					c := connect(t, s, func(cfg *framework.Config) {
						cfg.Observers = []framework.Observer{{RequestEnded: func(_ context.Context, call framework.Request) {
							if called != nil && call.Op == "create" {
								called(call)
							}
						}}}
					})
					require.NoError(t, c.CreateParents(t.Context(), "/queue/n-"))
					p := place{c, s}
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					called = func(framework.Request) { end(p, cancel) }
					s.On(zktest.OpCreate, "/queue").After().Cut()
					_, err := c.CreateProtected(ctx, "/queue/n-", nil, mode)
					require.ErrorIs(t, err, framework.ErrUnknownOutcome)
					if name == "of its session" {
						require.ErrorIs(t, err, framework.ErrSessionLost)
					}
					require.Equal(t, 1, s.Count(zktest.OpCreate))
					time.Sleep(5 * time.Second)
					assert.Empty(t, p.nodes())
				})
			})
		}
	}
}

// A server that refuses each attempt at once, in a way that does not tell whether it
// was carried out, is not flooded with others.
func TestAttemptsWithUnknownOutcomeArePaused(t *testing.T) {
	all := maps.Clone(makers)
	all["parents"] = maker{zktest.OpCreateContainer, func(ctx context.Context, p place) error { return p.CreateParents(ctx, "/other/n-") }}
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			protect(t, func(t *testing.T, p place) {
				var sent atomic.Int32
				p.server.SetFaults(func(call zktest.Call) zktest.Action {
					if (call.Op == m.op || m.op == zktest.OpCreateContainer && call.Op == zktest.OpCreate) && call.Phase == zktest.PhaseBeforeApply && sent.Add(1) < 1000 {
						return zktest.Fail(zktest.OperationTimeout)
					}
					return zktest.Pass
				})
				err := m.create(within(t, 10*time.Second), p)
				require.ErrorIs(t, err, errStopped)
				require.ErrorIs(t, err, framework.ErrUnknownOutcome)
				require.ErrorContains(t, err, "unknown error code")
				assert.Greater(t, sent.Load(), int32(10))
				assert.Less(t, sent.Load(), int32(50))
				time.Sleep(timeout)
				assert.Empty(t, p.nodes())
			})
		})
	}
}
