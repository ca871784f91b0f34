package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const path = "/line"

// What a queue asks of a recipe is asked here of functions that know at which moment of an
// acquire they are.

// A moment is called at one moment of each acquire.
type moment func()

// deciding calls at the moment at which the policy admits a place.
func deciding(c *framework.Client, at moment) func(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	policy := func(self znode.Name, ahead []znode.Name, size int) []znode.Name {
		wait := queue.InLine(self, ahead, size)
		if len(wait) == 0 && self.Node != znode.Mutex+"0000000000" { // that is the newcomer of a first look
			at()
		}
		return wait
	}
	return queue.New(queue.Config{
		Client: c, Path: path, Recipe: "test", Kind: znode.Mutex, Kinds: znode.Locks, Policy: policy,
	}).Acquire
}

// passing calls when the first in line has passed a door.
func passing(c *framework.Client, at moment) func(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	line := queue.New(queue.Config{Client: c, Path: path, Kind: znode.Mutex, Kinds: znode.Locks, Policy: queue.InLine})
	return func(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
		return line.AcquireThrough(ctx, timeout, openDoor{at})
	}
}

// An openDoor lets everybody in, to two nodes beside the line.
type openDoor struct{ at moment }

func (openDoor) Dir() string { return path }

func (openDoor) Inside(context.Context, *framework.Client) ([]znode.Name, error) { return nil, nil }

func (openDoor) Free(context.Context, *framework.Client) ([]znode.Name, error) { return nil, nil }

func (d openDoor) Pass(ctx context.Context, t queue.Turn) ([]framework.Created, error) {
	made, err := t.Client.CreateProtectedAll(ctx, path+"/in-", t.Data, 2, framework.DeleteOp(t.Node, framework.AnyVersion))
	d.at()
	return made, err
}

var errStopped = errors.New("stopped by the test")

// At the moment of the grant the work ends, or the session, or the client is closed: no
// lease is handed out for that session, and nothing is left that was relied on.
func TestEndAtTheMomentOfTheGrant(t *testing.T) {
	for name, acquirer := range map[string]func(*framework.Client, moment) func(context.Context, time.Duration) (*lease.Lease, error){
		"the policy admits": deciding, "the door is passed": passing,
	} {
		for _, timeout := range []time.Duration{0, time.Minute, lease.Forever} {
			acquiring := func(end string, test func(t *testing.T, w *conformance.World, acquire func(at moment) (*lease.Lease, error), cancel context.CancelCauseFunc)) {
				t.Run(name+", "+end+", "+timeout.String(), func(t *testing.T) {
					conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
						c := w.Client("a")
						ctx, cancel := context.WithCancelCause(t.Context())
						defer cancel(nil)
						test(t, w, func(at moment) (*lease.Lease, error) { return acquirer(c, at)(ctx, timeout) }, cancel)
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
