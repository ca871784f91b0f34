package zkprom_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/labels"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// lossOf is the series of a reason, of a mutex at path.
func lossOf(reason string) string {
	return `path="/locks/orders",reason="` + reason + `",recipe="mutex"`
}

func TestLossesOfEachReasonAreThereFromTheFirstHoldOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		held := w.Acquire(newMutex(t, w.measured("a")))
		want := series{}
		for _, reason := range labels.Losses() {
			want[lossOf(reason)] = 0
		}
		assert.Equal(t, want, w.values("losses_total"))
		assert.Equal(t, series{ofMutex: 0}, w.values("release_failures_total"))
		require.NoError(t, held.Release())
		assert.Equal(t, want, w.values("losses_total"), "a release is no loss")
		assert.Equal(t, series{ofMutex: 0}, w.values("release_failures_total"))
	})
}

// Each way to lose a lease that there is.
func TestLossesByReason(t *testing.T) {
	for reason, lose := range map[string]func(w *world, a *framework.Client, held *lease.Lease){
		"deleted":         func(w *world, _ *framework.Client, held *lease.Lease) { w.Remove(w.Client("b"), held.Path()) },
		"max-hold":        func(w *world, _ *framework.Client, _ *lease.Lease) { w.After(time.Minute) },
		"suspended":       func(w *world, _ *framework.Client, _ *lease.Lease) { w.Server.DropConnections("a") },
		"closed":          func(w *world, a *framework.Client, _ *lease.Lease) { require.NoError(w.T, a.Close()) },
		"session-expired": func(w *world, a *framework.Client, _ *lease.Lease) { w.Expire(a) },
		"trust-expired":   func(w *world, _ *framework.Client, _ *lease.Lease) { w.Server.Partition("a", true) },
		"session-replaced": func(w *world, _ *framework.Client, _ *lease.Lease) {
			w.Server.DropConnections("a")
		},
		"no-auth": func(w *world, _ *framework.Client, held *lease.Lease) {
			hidden := framework.WorldACL(framework.PermDelete)
			_, err := w.Client("b").SetACL(w.T.Context(), held.Path(), hidden, framework.AnyVersion)
			require.NoError(w.T, err)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				a := w.measured("a", func(cfg *framework.Config) {
					cfg.StopOnSuspend = reason == "suspended"
					if reason == "session-replaced" {
						cfg.Dial = forgetting(cfg.Dial)
					}
				})
				var opts []mutex.Option
				if reason == "max-hold" {
					opts = append(opts, mutex.WithMaxHold(time.Minute))
				}
				held := w.Acquire(newMutex(t, a, opts...))
				w.After(time.Second)
				lose(w, a, held)
				<-held.Done()
				w.Settle()
				assert.Equal(t, series{lossOf(reason): 1}, w.values("losses_total").nonZero(), "%v", held.Err())
				assert.Equal(t, series{ofMutex: 0}, w.values("holds"))
				assert.Equal(t, series{ofMutex: 1}, w.values("hold_seconds_count"))
				assert.Equal(t, series{ofMutex: 0}, w.values("release_failures_total"))
				require.ErrorIs(t, held.Release(), lease.ErrLost)
				assert.Equal(t, series{lossOf(reason): 1}, w.values("losses_total").nonZero(), "it counts once")
			})
		})
	}
}

// The locks of a multi-lock are counted one by one.
func TestALockOfAMultiLockIsLost(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a := w.measured("a")
		both, err := multilock.New([]lease.Acquirer{newMutex(t, a), mutexAt(t, a, other)})
		require.NoError(t, err)
		held := w.Acquire(both)
		assert.Equal(t, series{ofMutex: 1, `path="other",recipe="mutex"`: 1}, w.values("holds"))
		w.Remove(w.Client("b"), w.Ephemerals(other)[0])
		<-held.Done()
		w.Settle()
		assert.Equal(t, series{lossOf("member-lost"): 1, strings.Replace(lossOf("deleted"), path, "other", 1): 1}, w.values("losses_total").nonZero())
		assert.Empty(t, w.values("holds").nonZero())
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}

// A reason that this version does not know is counted too.
func TestEachReasonHasACounter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		of := w.metrics.Observer()
		info := framework.HoldInfo{Recipe: "mutex", Path: path}
		for _, reason := range []error{framework.ErrSessionLost, errors.New("new")} {
			of.HoldStarted(t.Context(), info)
			of.HoldEnded(t.Context(), framework.HoldEnd{HoldInfo: info, Err: &lease.LossError{Reason: reason}})
		}
		assert.Equal(t, series{lossOf("session-lost"): 1, lossOf("other"): 1}, w.values("losses_total").nonZero())
	})
}

func TestAReleaseThatFails(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		held := w.Acquire(newMutex(t, w.measured("a")))
		w.Server.On(zktest.OpDelete, held.Path()).Fail(zktest.NoAuth)
		w.After(time.Second)
		require.ErrorIs(t, held.Release(), framework.ErrNoAuth)
		assert.Equal(t, series{ofMutex: 1}, w.values("release_failures_total"))
		assert.Empty(t, w.values("losses_total").nonZero())
		assert.Equal(t, series{ofMutex: 0}, w.values("holds"))
		assert.Equal(t, series{ofMutex: 1}, w.values("hold_seconds_sum"))
	})
}

// forgetting returns a dialer whose second connection forgets its session: the server
// gives it another.
func forgetting(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dials := 0
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if dials++; dials == 2 && err == nil {
			conn = &forgetful{Conn: conn}
		}
		return conn, err
	}
}

// forgetful removes the id of the session from the connect request.
type forgetful struct {
	net.Conn
	sent bool
}

func (c *forgetful) Write(p []byte) (int, error) {
	if !c.sent {
		c.sent = true
		p = append([]byte(nil), p...)
		clear(p[20:28])
	}
	return c.Conn.Write(p)
}
