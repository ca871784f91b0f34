package mutex_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// An Acquire that cannot succeed fails at once, says why and where, and leaves nothing.
func TestRefusals(t *testing.T) {
	cases := map[string]struct {
		config  func(*framework.Config)
		options []mutex.Option
		arrange func(t *testing.T, w *conformance.World)
		want    error
	}{
		"too much data": {
			config:  func(cfg *framework.Config) { cfg.MaxRequestBytes = 512 },
			options: []mutex.Option{mutex.WithHolder(strings.Repeat("x", 1<<10))}, want: framework.ErrTooLarge,
		},
		"too many nodes": {
			config: func(cfg *framework.Config) { cfg.MaxEphemeralBytes = 20 },
			want:   framework.ErrTooManyEphemerals,
		},
		"no right to create": {want: framework.ErrNoAuth, arrange: func(t *testing.T, w *conformance.World) {
			other := w.Client("owner", func(cfg *framework.Config) {
				cfg.Auth = []framework.Credential{framework.DigestAuth("owner", "secret")}
			})
			acl := framework.CreatorACL(framework.PermAll)
			_, err := other.Create(t.Context(), "/locks", nil, framework.Persistent)
			require.NoError(t, err)
			_, err = other.Create(t.Context(), path, nil, framework.Persistent, framework.WithACL(acl))
			require.NoError(t, err)
		}},
		"an ephemeral parent": {want: framework.ErrNoChildrenForEphemerals, arrange: func(t *testing.T, w *conformance.World) {
			_, err := w.Client("other").Create(t.Context(), "/locks", nil, framework.Ephemeral)
			require.NoError(t, err)
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				if c.arrange != nil {
					c.arrange(t, w)
				}
				config := c.config
				if config == nil {
					config = func(*framework.Config) {}
				}
				a := w.Client("a", config)
				for _, timeout := range []time.Duration{0, time.Hour, lease.Forever} {
					at := w.Start(newMutex(t, a, c.options...), timeout)
					require.False(t, at.Waiting(), "it fails at once")
					require.ErrorIs(t, at.Failed(), c.want)
					require.NotErrorIs(t, at.Err, lease.ErrTimeout)
					require.ErrorContains(t, at.Err, "/locks")
					require.NotContains(t, at.Err.Error(), "secret")
				}
				require.Empty(t, children(w))
			})
		})
	}
}

// A client with many waiters loses its session: all of them join again.
func TestManyWaitersLoseTheirSession(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempts := queueUp(w, b, 50)
		for range 3 {
			w.Expire(b)
			w.After(time.Second)
			require.Len(t, children(w), 51)
		}
		require.NoError(t, held.Release())
		referee := &conformance.Referee{Slots: 1}
		for range attempts {
			w.Settle()
			for i, at := range attempts {
				if at != nil && !at.Waiting() {
					referee.Grant("a waiter", at.Granted())
					require.NoError(t, at.Lease.Release())
					attempts[i] = nil
				}
			}
		}
		require.Len(t, referee.Tokens(), 50)
		require.Empty(t, referee.Faults())
	})
}
