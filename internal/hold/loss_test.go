package hold_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// onDelete calls f whenever the client asks for a node to be deleted.
func (p world) onDelete(f func()) func(zktest.Call) zktest.Action {
	return func(call zktest.Call) zktest.Action {
		if call.Op == zktest.OpDelete && call.Phase == zktest.PhaseBeforeApply && call.Client == "client" {
			f()
		}
		return zktest.Pass
	}
}

// lostTo asserts that everything that can be asked of a lease says that it was lost,
// and why.
func lostTo(t *testing.T, h *lease.Lease, reason error) {
	t.Helper()
	for _, err := range []error{h.Err(), context.Cause(h.Context()), h.Confirm(t.Context())} {
		require.ErrorIs(t, err, lease.ErrLost)
		require.ErrorIs(t, err, reason)
		require.NotErrorIs(t, err, lease.ErrReleased)
		var loss *lease.LossError
		require.ErrorAs(t, err, &loss)
		assert.Equal(t, "/ns"+h.Path(), loss.Path)
		assert.Equal(t, h.Token(), loss.Token)
		assert.Contains(t, err.Error(), loss.Path)
	}
	synctest.Wait() // the context ends first
	assert.True(t, done(h))
	again, _, err := hold.Enter(h.Context(), hold.Key{})
	require.NoError(t, err)
	assert.Nil(t, again)
}

func TestHoldIsLost(t *testing.T) {
	for name, tc := range map[string]struct {
		strike func(t *testing.T, p world, h *lease.Lease)
		reason error
		max    time.Duration
	}{
		"session expired": {func(_ *testing.T, p world, _ *lease.Lease) { p.server.ExpireSession(p.Session().ID()) }, framework.ErrSessionExpired, 0},
		"trust expired":   {func(_ *testing.T, p world, _ *lease.Lease) { p.server.Partition("client", true) }, framework.ErrTrustExpired, 0},
		"node deleted": {func(t *testing.T, p world, h *lease.Lease) {
			require.NoError(t, dial(t, p.server, "other").Delete(t.Context(), h.Path(), -1))
		}, lease.ErrDeleted, 0},
		"held for too long": {func(*testing.T, world, *lease.Lease) {}, lease.ErrMaxHold, 20 * time.Second},
		"client closed":     {func(_ *testing.T, p world, _ *lease.Lease) { p.Close() }, framework.ErrClosed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			granting(t, func(t *testing.T, p world) {
				h := p.grant(t, t.Context(), maxHold(tc.max))
				child, _, err := hold.Enter(context.WithoutCancel(h.Context()), p.key())
				require.NoError(t, err)
				time.Sleep(timeout)
				tc.strike(t, p, h)
				<-h.Context().Done()
				<-child.Context().Done()
				lostTo(t, h, tc.reason)
				lostTo(t, child, tc.reason)
				_, _, err = hold.Enter(h.Context(), p.key())
				require.ErrorIs(t, err, lease.ErrLost, "the caller believes that it holds the slot")
				p.server.Partition("client", false)
				err = child.Release()
				require.ErrorIs(t, err, lease.ErrLost)
				err = h.Release()
				require.ErrorIs(t, err, lease.ErrLost)
				require.ErrorIs(t, err, tc.reason)
				require.ErrorIs(t, h.Release(), lease.ErrReleased)
				time.Sleep(timeout)
				assert.Zero(t, p.nodes())
				assert.Zero(t, p.server.Watches())
			})
		})
	}
}

// Err compares the clock, whichever goroutine has run.
func TestErrOfAHoldLooksAtTheClock(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context(), maxHold(time.Hour))
		time.Sleep(2 * timeout)
		synctest.Wait() // a sync is due at this instant, and its answer moves the deadline
		p.server.Partition("client", true)
		until := h.TrustedUntil()
		require.Equal(t, p.Session().TrustedUntil(), until)
		time.Sleep(time.Until(until) - 1)
		require.NoError(t, h.Err())
		time.Sleep(time.Nanosecond)
		require.ErrorIs(t, h.Err(), framework.ErrTrustExpired)
		assert.GreaterOrEqual(t, time.Until(p.server.Sessions()[0].Deadline), grace, "the server still keeps others out")
		p.server.Partition("client", false)
	})
}

func TestHoldOutlivesAShortSuspension(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		time.Sleep(timeout)
		for range 5 {
			p.suspend()
			time.Sleep(time.Second)
			require.NoError(t, h.Err())
			p.resume()
			time.Sleep(timeout)
		}
		require.True(t, stands(h))
		require.NoError(t, h.Release())
	})
}

func TestDeletionBeforeTheFirstLookIsNoticed(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		other := dial(t, p.server, "other")
		h := p.grant(t, t.Context())
		require.NoError(t, other.Delete(t.Context(), h.Path(), -1))
		time.Sleep(50 * time.Millisecond)
		lostTo(t, h, lease.ErrDeleted)

		h = p.grant(t, t.Context())
		require.NoError(t, other.Delete(t.Context(), h.Path(), -1))
		err := h.Release()
		require.ErrorIs(t, err, lease.ErrLost, "also by a release that comes first")
		require.ErrorIs(t, err, lease.ErrDeleted)

		h = p.grant(t, t.Context())
		require.NoError(t, other.Delete(t.Context(), h.Path(), -1))
		err = h.Confirm(t.Context())
		require.ErrorIs(t, err, lease.ErrDeleted, "and by a confirmation")
		lostTo(t, h, lease.ErrDeleted)
	})
}

// What others write into the node is not its end, nor is the watch used up by it.
func TestChangedDataIsNoLoss(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		other := dial(t, p.server, "other")
		h := p.grant(t, t.Context())
		for range 3 {
			time.Sleep(time.Second)
			_, err := other.Set(t.Context(), h.Path(), []byte("x"), -1)
			require.NoError(t, err)
		}
		time.Sleep(time.Second)
		require.NoError(t, h.Err())
		require.NoError(t, other.Delete(t.Context(), h.Path(), -1))
		synctest.Wait()
		lostTo(t, h, lease.ErrDeleted)
	})
}

// Another client's node under the name of ours is not deleted.
func TestReplacedNodeIsALossAndIsNotDeleted(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		other := dial(t, p.server, "other")
		h := p.grant(t, t.Context())
		require.NoError(t, other.Delete(t.Context(), h.Path(), -1))
		_, err := other.Create(t.Context(), h.Path(), nil, framework.Ephemeral)
		require.NoError(t, err)
		<-h.Context().Done()
		require.ErrorIs(t, h.Err(), lease.ErrLost)
		time.Sleep(timeout)
		assert.Equal(t, 1, p.nodes())
		require.ErrorIs(t, h.Release(), lease.ErrLost)
		time.Sleep(timeout)
		assert.Equal(t, 1, p.nodes())
	})
}

func TestHoldOnADeadSessionIsLostFromTheStart(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		var session *framework.Session
		h := p.grant(t, t.Context(), func(g *hold.Grant) {
			session = g.Session
			p.server.ExpireSession(session.ID())
			<-session.Done()
		})
		synctest.Wait()
		lostTo(t, h, framework.ErrSessionExpired)
		time.Sleep(timeout)
		h = p.grant(t, t.Context(), func(g *hold.Grant) { g.Session, g.Client = session, p.In(session) })
		assert.False(t, stands(h), "long after the session's tasks have ended")
		lostTo(t, h, framework.ErrSessionExpired)
		require.ErrorIs(t, h.Release(), lease.ErrLost)
	})
}
