package acquire_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const path = "/queue"

// What is asked of a recipe is asked here of one that knows at which moment of an
// acquire it is.

// A moment is called at one moment of each acquire.
type moment func()

// mutexes is a queue of mutexes.
func mutexes(c *framework.Client) *queue.Queue {
	return locks.Queue(c, path, znode.Mutex, queue.Self(""), 0)
}

// deciding calls at when the policy admits a position.
func deciding(c *framework.Client, at moment) acquire.Taker {
	q := mutexes(c)
	q.Rule = queue.Always(func(self znode.Name, ahead queue.Ahead) []znode.Name {
		wait := queue.Exclusive(self, ahead)
		if len(wait) == 0 && self != q.Newcomer() {
			at()
		}
		return wait
	})
	return acquire.InQueue(q)
}

// exchanging calls at when the head has exchanged its position for two nodes outside
// the queue.
func exchanging(c *framework.Client, at moment) acquire.Taker {
	q := mutexes(c)
	return func(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
		p, err := t.Await(ctx, q, nil)
		if err != nil {
			return nil, err
		}
		defer p.End()
		made, err := kit.Of(t.Client).CreateProtectedAll(ctx, path+"/in-", nil, 2, nil, framework.DeleteOp(p.Path(), framework.AnyVersion))
		at()
		if err != nil {
			t.GiveUp(p)
			return nil, err
		}
		grant := hold.Grant{Path: made[0].Path, Token: lease.Token(made[0].Czxid), Also: []string{made[1].Path}}
		if err := t.Rely(&grant); err != nil {
			return nil, err
		}
		return t.Start(t.Work, grant), nil
	}
}

var errStopped = errors.New("stopped by the test")

// At the moment of the grant the work ends, or the session, or the client is closed: no
// lease is handed out for that session, and nothing is left that was relied on.
func TestEndAtTheMomentOfTheGrant(t *testing.T) {
	for name, acquirer := range map[string]func(*framework.Client, moment) acquire.Taker{
		"the policy admits": deciding, "the position is exchanged": exchanging,
	} {
		for _, timeout := range []time.Duration{0, time.Minute, lease.Forever} {
			acquiring := func(end string, test func(t *testing.T, w *conformance.World, acquire func(at moment) (*lease.Lease, error), cancel context.CancelCauseFunc)) {
				t.Run(name+", "+end+", "+timeout.String(), func(t *testing.T) {
					conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
						c := w.Client("a")
						recipe := acquire.Recipe{Client: c, Path: path, NotReentrant: true}
						ctx, cancel := context.WithCancelCause(t.Context())
						defer cancel(nil)
						test(t, w, func(at moment) (*lease.Lease, error) { return recipe.Acquire(ctx, timeout, acquirer(c, at)) }, cancel)
					})
				})
			}
			acquiring("the work ends", func(t *testing.T, w *conformance.World, acquire func(moment) (*lease.Lease, error), cancel context.CancelCauseFunc) {
				handle, err := acquire(func() { cancel(errStopped) })
				require.ErrorIs(t, err, errStopped)
				require.Nil(t, handle)
				leftNothing(t, w)
			})
			acquiring("the client is closed", func(t *testing.T, w *conformance.World, acquire func(moment) (*lease.Lease, error), _ context.CancelCauseFunc) {
				handle, err := acquire(func() { w.CloseAll() })
				require.ErrorIs(t, err, framework.ErrClosed)
				require.Nil(t, handle)
			})
			acquiring("the session ends", func(t *testing.T, w *conformance.World, acquire func(moment) (*lease.Lease, error), _ context.CancelCauseFunc) {
				c, ended := w.Known("a"), (*framework.Session)(nil)
				handle, err := acquire(func() {
					if ended == nil {
						ended = c.Session()
						w.Expire(c)
						<-ended.Done()
					}
				})
				require.NotNil(t, ended)
				if timeout == 0 && errors.Is(err, lease.ErrTimeout) { // there was no connection at once
					w.After(time.Second)
					leftNothing(t, w)
					return
				}
				require.NoError(t, err)
				require.NoError(t, handle.Err())
				info, ok := w.Server.Node(handle.Path())
				require.True(t, ok)
				require.Equal(t, c.Session().ID(), info.EphemeralOwner)
				require.NoError(t, handle.Release())
				leftNothing(t, w)
			})
		}
	}
}

// leftNothing looks for nodes, watches, and transactions that vouch for them.
func leftNothing(t *testing.T, w *conformance.World) {
	t.Helper()
	session := w.Known("a").Session()
	w.After(2 * conformance.SessionTimeout)
	require.Empty(t, w.Ephemerals("/"))
	require.Zero(t, w.Server.Watches())
	w.Server.ResetCounts()
	w.After(3 * conformance.SessionTimeout)
	require.Zero(t, w.Server.Count(zktest.OpMulti))
	require.NoError(t, session.Err(), "no quorum has to vouch for it")
}
