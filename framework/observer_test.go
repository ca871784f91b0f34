package framework_test

import (
	"context"
	"errors"
	"fmt"
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

func TestSeveralObserversAreNotifiedInOrderEachWithItsOwnContext(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		type key struct{}
		var log []string
		observer := func(name string) framework.Observer {
			return framework.Observer{
				HoldStarted: func(ctx context.Context, h framework.HoldInfo) context.Context {
					log = append(log, fmt.Sprint(name, " starts ", h.Node, " in ", ctx.Value(key{})))
					return context.WithValue(ctx, key{}, name)
				},
				HoldEnded: func(ctx context.Context, e framework.HoldEnd) {
					log = append(log, fmt.Sprint(name, " ends ", e.Node, " in ", ctx.Value(key{}), " after ", e.Held))
				},
			}
		}
		ends := framework.Observer{HoldEnded: func(ctx context.Context, _ framework.HoldEnd) { log = append(log, fmt.Sprint("in ", ctx.Value(key{}))) }}
		c := connect(t, s, func(cfg *framework.Config) {
			cfg.Namespace = "ns"
			cfg.Observers = []framework.Observer{observer("a"), {}, ends, observer("b")}
		})
		ctx, ended := kit.Of(c).HoldStarted(t.Context(), framework.HoldInfo{Node: "/n"})
		ended(framework.HoldEnd{Held: time.Second})
		require.Equal(t, []string{"a starts /ns/n in <nil>", "b starts /ns/n in a", "a ends /ns/n in a after 1s", "in a", "b ends /ns/n in b after 1s"}, log)
		require.Equal(t, "b", ctx.Value(key{}))
	})
}

// Whatever an observer returns, only its values count.
func TestAnObserverAddsValuesAndNothingElse(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		type mine struct{}
		type its struct{}
		var returned func(ctx context.Context) context.Context
		c := connect(t, s, func(cfg *framework.Config) {
			cfg.Observers = []framework.Observer{{
				AcquireStarted: func(ctx context.Context, _ framework.AcquireInfo) context.Context { return returned(ctx) },
			}}
		})
		over, stop := context.WithCancel(context.Background())
		stop()
		errMine := errors.New("mine")
		for name, f := range map[string]func(ctx context.Context) context.Context{
			"more values":  func(ctx context.Context) context.Context { return context.WithValue(ctx, its{}, 1) },
			"of its own":   func(context.Context) context.Context { return context.WithValue(context.Background(), its{}, 1) },
			"over already": func(context.Context) context.Context { return context.WithValue(over, its{}, 1) },
			"without its end": func(ctx context.Context) context.Context {
				return context.WithValue(context.WithoutCancel(ctx), its{}, 1)
			},
			"with a deadline": func(ctx context.Context) context.Context {
				return withDeadline(context.WithValue(ctx, its{}, 1), time.Second)
			},
			"its own, deadline": func(context.Context) context.Context {
				return withDeadline(context.WithValue(context.Background(), its{}, 1), time.Second)
			},
		} {
			returned = f
			ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), mine{}, 2))
			got, _ := kit.Of(c).AcquireStarted(ctx, framework.AcquireInfo{Path: "/"})
			assert.Equal(t, 1, got.Value(its{}), name)
			assert.Equal(t, 2, got.Value(mine{}), name)
			time.Sleep(time.Minute)
			require.NoError(t, got.Err(), name)
			_, limited := got.Deadline()
			assert.False(t, limited, name)
			derived, done := context.WithTimeout(got, time.Hour)
			cancel(errMine)
			<-derived.Done()
			require.ErrorIs(t, got.Err(), context.Canceled, name)
			done()
		}
	})
}

func withDeadline(ctx context.Context, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(ctx, d)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// A retry is a further call of RequestEnded, with the operation's context.
func TestCalledCountsAttempts(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		type key struct{}
		var attempts []int
		c := connect(t, s, func(cfg *framework.Config) {
			cfg.Retry = retry.Constant(time.Second)
			cfg.Observers = []framework.Observer{{RequestEnded: func(ctx context.Context, call framework.Request) {
				assert.Equal(t, "mine", ctx.Value(key{}))
				assert.Equal(t, call.Err != nil, call.Attempt < 3)
				attempts = append(attempts, call.Attempt)
			}}}
		})
		s.On(zktest.OpGetData, "/").Nth(1).Cut()
		s.On(zktest.OpGetData, "/").Nth(2).Cut()
		_, _, err := c.Get(context.WithValue(t.Context(), key{}, "mine"), "/")
		require.NoError(t, err)
		require.Equal(t, []int{1, 2, 3}, attempts)
	})
}

// Between CleanupStarted and CleanupEnded a clean-up is pending.
func TestPendingCleanUps(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var pending atomic.Int64
		c := connect(t, s, func(cfg *framework.Config) {
			cfg.Observers = []framework.Observer{{
				CleanupStarted: func(path string) { assert.Equal(t, "/n", path); pending.Add(1) },
				CleanupEnded:   func(path string, err error) { assert.Equal(t, "/n", path); assert.NoError(t, err); pending.Add(-1) },
			}}
		})
		_, err := c.Create(t.Context(), "/n", nil, framework.Persistent)
		require.NoError(t, err)
		s.Stall("client", true)
		kit.Of(c).DeleteInBackground("/n")
		time.Sleep(time.Second)
		require.EqualValues(t, 1, pending.Load())
		s.Stall("client", false)
		time.Sleep(time.Minute)
		require.Zero(t, pending.Load())
	})
}
