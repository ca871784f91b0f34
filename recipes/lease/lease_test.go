package lease_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestTrustedUntilMovesForwardWhileServersAnswer(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(acquirer(t, w.Client("a")))
		last := held.TrustedUntil()
		for range 20 {
			w.After(conformance.SessionTimeout / 2)
			require.True(t, held.TrustedUntil().After(last))
			require.True(t, held.TrustedUntil().After(time.Now()))
			last = held.TrustedUntil()
		}
		w.Server.Pause()
		w.After(10 * time.Millisecond)
		last = held.TrustedUntil()
		w.After(time.Second)
		require.Equal(t, last, held.TrustedUntil())
		time.Sleep(time.Until(last))
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		w.Server.Resume()
		w.After(time.Second)
		require.ErrorIs(t, held.Err(), lease.ErrLost, "once lost is lost for good")
	})
}

// An outage that ends before the trust deadline does not end a lease.
func TestLeaseSurvivesShortOutages(t *testing.T) {
	for name, strike := range map[string]func(w *conformance.World, on bool){
		"refused": func(w *conformance.World, on bool) {
			w.Server.RefuseConnections("a", on)
			if on {
				w.Server.DropConnections("a")
			}
		},
		"partition": func(w *conformance.World, on bool) { w.Server.Partition("a", on) },
		"pause": func(w *conformance.World, on bool) {
			if on {
				w.Server.Pause()
			} else {
				w.Server.Resume()
			}
		},
		"restart": func(w *conformance.World, on bool) {
			if on {
				w.Server.Restart(true)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				held := w.Acquire(acquirer(t, w.Client("a")))
				for range 5 {
					w.After(conformance.SessionTimeout)
					strike(w, true)
					w.After(conformance.SessionTimeout / 4)
					require.NoError(t, held.Err())
					strike(w, false)
				}
				w.After(conformance.SessionTimeout)
				require.NoError(t, held.Confirm(t.Context()))
				require.NoError(t, held.Release())
			})
		})
	}
}

// A server without its data does not know the session any more.
func TestLeaseIsLostWithTheServersData(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(acquirer(t, w.Client("a")))
		w.Server.Restart(false)
		<-held.Context().Done()
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}

func TestContextEndsWithItsCause(t *testing.T) {
	reason := errors.New("called off")
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "kept"))
		held, err := acquirer(t, c).Acquire(ctx, 0)
		require.NoError(t, err)
		require.Equal(t, "kept", held.Context().Value(key{}), "it derives from the one given to Acquire")
		cancel(reason)
		<-held.Context().Done()
		require.ErrorIs(t, context.Cause(held.Context()), reason)
		require.NoError(t, held.Release(), "no context is needed to release")
		require.ErrorIs(t, context.Cause(held.Context()), reason, "the first cause stands")
	})
}

type key struct{}

func TestLossErrorHasAllDetails(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a", func(cfg *framework.Config) { cfg.Namespace = "shop" })
		held := w.Acquire(acquirer(t, c))
		token := held.Token()
		w.After(90 * time.Second)
		w.Expire(c)
		w.After(time.Second)
		var loss *lease.LossError
		require.ErrorAs(t, held.Err(), &loss)
		require.Equal(t, "/shop"+held.Path(), loss.Path)
		require.Equal(t, token, loss.Token)
		require.InDelta(t, 90*time.Second, loss.Held, float64(time.Second))
		require.ErrorIs(t, loss.Reason, framework.ErrSessionExpired)
		require.Regexp(t, `^lease lost: /shop/locks/orders/_c_\S+-lock-0000000000, token `+token.String()+`, session 0x[0-9a-f]+, after 1m30\S*s: session lost: expired by the server`, loss.Error())
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}

// Release takes a bounded time, whatever the server does.
func TestReleaseIsBounded(t *testing.T) {
	for name, strike := range map[string]func(w *conformance.World){
		"paused":    func(w *conformance.World) { w.Server.Pause() },
		"partition": func(w *conformance.World) { w.Server.Partition("a", true) },
		"refused": func(w *conformance.World) {
			w.Server.RefuseConnections("a", true)
			w.Server.DropConnections("a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				c := w.Client("a")
				held := w.Acquire(acquirer(t, c))
				strike(w)
				w.Settle()
				began := time.Now()
				require.NoError(t, held.Release(), "it was valid until now")
				require.LessOrEqual(t, time.Since(began), conformance.SessionTimeout/3)
				if name == "refused" {
					require.Less(t, time.Since(began), 10*time.Millisecond, "there is nothing to wait for")
				}
				w.Heal()
				w.After(conformance.SessionTimeout)
				require.Empty(t, w.Ephemerals("/"), "the removal went on in the background")
			})
		})
	}
}

func TestConfirmDuringOutage(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(acquirer(t, w.Client("a")))
		w.Server.On(zktest.OpMulti, "").After().Cut()
		require.NoError(t, held.Confirm(t.Context()), "it asks again")

		w.Server.Partition("a", true)
		err := held.Confirm(t.Context())
		require.ErrorIs(t, err, lease.ErrLost, "it waits for an answer until there can be none")
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}

func TestAllMethodsMayBeCalledAtOnce(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		a := acquirer(t, c)
		held := w.Acquire(a)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for range 50 {
					switch i {
					case 0:
						_ = held.Err()
					case 1:
						_ = held.Confirm(held.Context())
					case 2:
						_, _ = held.Path(), held.Token()
					case 3:
						_ = held.TrustedUntil()
					case 4:
						_, _ = c.Multi(held.Context(), held.Check())
					case 5:
						if inner, err := a.Acquire(held.Context(), 0); err == nil {
							_ = inner.Release()
						}
					case 6:
						time.Sleep(time.Millisecond)
					case 7:
						_ = context.Cause(held.Context())
					}
				}
				if i == 6 {
					_ = held.Release()
				}
			})
		}
		all.Wait()
		require.ErrorIs(t, held.Err(), lease.ErrReleased)
		w.Settle()
		require.Empty(t, w.Ephemerals("/"))
	})
}

func TestTexts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "4294967296", lease.Token(1<<32).String())
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	holder := lease.Holder{Who: "backup", Host: "db1", PID: 7, Since: since}
	require.Equal(t, "backup (db1, pid 7, since 2026-01-02T03:04:05Z)", holder.String())
	require.Empty(t, lease.Holder{}.String())
	require.Equal(t, "token 5  session 0x1f  backup (db1, pid 7, since 2026-01-02T03:04:05Z)",
		lease.Contender{Node: "n", Token: 5, Session: 31, Holder: holder}.String())
	require.Equal(t, "token 5  session 0x1f  n", lease.Contender{Node: "n", Token: 5, Session: 31}.String())
	cause := errors.New("no server")
	timeout := &lease.TimeoutError{Path: "/a", Waited: time.Second, Ahead: 2, Node: "n", Err: cause}
	require.Equal(t, "/a: not acquired in time: waited 1s, 2 ahead, held by node n; last failure: no server", timeout.Error())
	require.ErrorIs(t, timeout, lease.ErrTimeout)
	require.ErrorIs(t, timeout, cause)
}
