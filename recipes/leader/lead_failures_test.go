package leader_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// A function that fails at once neither keeps other candidates from leading nor spins:
// after each failure the pause is longer, within bounds.
func TestFailingFunctionBacksOff_Users28d(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var ended []time.Time
		failing := lead(w, newElection(t, w.Client("a"), "a"), func(_ context.Context, term *lease.Lease) error {
			ended = append(ended, time.Now())
			if len(ended) > 1 {
				require.NotEmpty(t, term.Path())
			}
			return errWork
		})
		w.After(5 * time.Minute)
		require.True(t, failing.running())
		require.Empty(t, children(w), "not a candidate during the pause")
		require.NoError(t, w.Acquire(newElection(t, w.Client("b"), "b")).Release())
		require.ErrorIs(t, failing.stop(), context.Canceled)
		require.Greater(t, len(ended), 20)
		require.Less(t, len(ended), 70)
		longest := time.Duration(0)
		for i := range ended[1:] {
			pause := ended[i+1].Sub(ended[i])
			require.GreaterOrEqual(t, pause, leader.DefaultInitialBackoff/2)
			require.Less(t, pause, leader.DefaultMaxBackoff+time.Second)
			longest = max(longest, pause)
		}
		require.Less(t, ended[1].Sub(ended[0]), 2*leader.DefaultInitialBackoff)
		require.Greater(t, longest, leader.DefaultMaxBackoff/3)
	})
}

// A series of failures ends with a term that succeeds, or lasts a minute.
func TestBackoffRestarts(t *testing.T) {
	for name, rescue := range map[string]func(ctx context.Context) error{
		"a success":         func(context.Context) error { return nil },
		"a term that lasts": func(ctx context.Context) error { _ = retry.Sleep(ctx, 2*time.Minute); return errWork },
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				var pauses []time.Duration
				var last time.Time
				n := 0
				lead(w, newElection(t, w.Client("a"), "a"), func(ctx context.Context, _ *lease.Lease) error {
					n++
					if n > 1 {
						pauses = append(pauses, time.Since(last))
					}
					defer func() { last = time.Now() }()
					if n == 12 {
						return rescue(ctx)
					}
					return errWork
				})
				w.After(5 * time.Minute)
				require.Greater(t, n, 14)
				require.Greater(t, pauses[10], time.Second)
				require.Less(t, pauses[11], 2*leader.DefaultInitialBackoff)
			})
		})
	}
}

// When the backoff policy ends, Lead ends with the last failure.
func TestBackoffThatEnds(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		n := 0
		err := newElection(t, w.Client("a"), "a", leader.WithBackoff(retry.None())).Lead(t.Context(),
			func(context.Context, *lease.Lease) error { n++; return fmt.Errorf("%d: %w", n, errWork) })
		require.ErrorIs(t, err, errWork)
		require.ErrorContains(t, err, "1: ")
		require.Equal(t, 1, n)
		require.Empty(t, children(w))
	})
}

// A panic, or the end of the goroutine, releases the term.
func TestPanicResigns(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic(errWork) }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				e := newElection(t, w.Client("a"), "a")
				caught := make(chan any)
				go func() {
					defer func() { caught <- recover() }()
					_ = e.Lead(t.Context(), func(_ context.Context, term *lease.Lease) error {
						end()
						return term.Err()
					})
				}()
				got := <-caught
				if name == "panic" {
					require.Equal(t, errWork, got)
				} else {
					require.Nil(t, got)
				}
				require.Empty(t, children(w))
			})
		})
	}
}

// An ACL allows to create the node, but not to delete it.
func TestACLThatForbidsToResign(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		owner := w.Client("owner", func(cfg *framework.Config) {
			cfg.Auth = []framework.Credential{framework.DigestAuth("owner", "secret")}
		})
		require.NoError(t, owner.CreateParents(t.Context(), path))
		acl := framework.WorldACL(framework.PermCreate | framework.PermRead)
		_, err := owner.Create(t.Context(), path, nil, framework.Persistent, framework.WithACL(acl))
		require.NoError(t, err)
		o := newOffice()
		a := lead(w, newElection(t, w.Client("a"), "a"), o.during("a", time.Second))
		require.ErrorIs(t, a.result(), framework.ErrNoAuth)
		require.Len(t, o.leaders(), 1)
		b := w.Client("b")
		waiting := lead(w, newElection(t, b, "b"), o.until("b", 0))
		w.After(time.Second)
		require.ErrorIs(t, waiting.stop(), context.Canceled)
	})
}

// A function that does not stop when its term is lost does not keep other candidates
// from leading, and is not called a second time meanwhile.
func TestFunctionThatDoesNotStop(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		lead(w, newElection(t, w.Client("a"), "a"), func(_ context.Context, term *lease.Lease) error {
			o.enter("a", term)
			defer o.leave(term)
			time.Sleep(time.Hour)
			return nil
		})
		b := lead(w, newElection(t, w.Client("b"), "b"), o.until("b", 0))
		first := o.next(t)
		w.Server.Partition("a", true)
		o.next(t)
		require.ErrorIs(t, first.Err(), lease.ErrLost)
		w.Server.Partition("a", false)
		w.After(time.Minute)
		require.ErrorIs(t, b.stop(), context.Canceled)
		w.After(30 * time.Minute)
		require.Equal(t, []string{"a", "b"}, o.leaders())
		require.Empty(t, children(w), "it campaigns after fn has returned")
		w.After(30 * time.Minute)
		require.Equal(t, []string{"a", "b", "a"}, o.leaders())
		w.After(30 * time.Minute)
		o.check(t)
	})
}

// Failures are logged with path and id, through the client's logger.
func TestFailuresAreLogged(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var log strings.Builder
		a := w.Client("a", func(cfg *framework.Config) {
			cfg.Namespace = "shop"
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		ways := []func(ctx context.Context) error{
			func(context.Context) error { return errWork },
			func(ctx context.Context) error {
				w.Server.ExpireSession(a.Session().ID())
				<-ctx.Done()
				return fmt.Errorf("stopped: %w", ctx.Err())
			},
			func(context.Context) error { return nil },
			func(context.Context) error { return leader.ErrStop },
		}
		n := 0
		require.NoError(t, newElection(t, a, "node 1").Lead(t.Context(), func(ctx context.Context, _ *lease.Lease) error {
			n++
			return ways[n-1](ctx)
		}))
		require.NoError(t, a.Close()) // it logs no more
		require.Equal(t, 4, strings.Count(log.String(), "msg=leading election=/shop"+path+` id="node 1" token=`))
		require.Equal(t, 1, strings.Count(log.String(), `level=WARN msg="resigned after a failure"`))
		require.Contains(t, log.String(), `error="the work failed"`)
		require.Equal(t, 1, strings.Count(log.String(), `level=WARN msg="leadership lost"`))
		require.Contains(t, log.String(), "expired by the server")
		require.Equal(t, 2, strings.Count(log.String(), "level=INFO msg=resigned "))
		require.NotContains(t, log.String(), "stopped: ", "an error of the ended context is no failure")
	})
}
