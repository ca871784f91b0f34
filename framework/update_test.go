package framework_test

import (
	"context"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// counter makes a node whose data are a number.
func counter(t *testing.T, c *framework.Client) {
	t.Helper()
	_, err := c.Create(t.Context(), "/n", []byte("0"), framework.Persistent)
	require.NoError(t, err)
}

// increment is a change that shows how often it was carried out.
func increment(data []byte, _ framework.Stat) ([]byte, bool, error) {
	n, err := strconv.Atoi(string(data))
	return []byte(strconv.Itoa(n + 1)), true, err
}

// become is a change that leaves a node which is as it should be.
func become(want string) func([]byte, framework.Stat) ([]byte, bool, error) {
	return func(data []byte, _ framework.Stat) ([]byte, bool, error) {
		return []byte(want), string(data) != want, nil
	}
}

func stored(t *testing.T, s *zktest.Server) string {
	t.Helper()
	node, ok := s.Node("/n")
	require.True(t, ok)
	return string(node.Data)
}

func TestUpdate(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { cfg.MaxRequestBytes = 1000 })
		counter(t, c)
		s.ResetCounts()
		require.NoError(t, c.Update(t.Context(), "/n", increment))
		assert.Equal(t, "1", stored(t, s))
		assert.Equal(t, map[zktest.Op]int{zktest.OpGetData: 1, zktest.OpSetData: 1}, requests(s))
		require.NoError(t, c.Update(t.Context(), "/n", become("1")))
		assert.Equal(t, 1, s.Count(zktest.OpSetData), "it is so already")

		err := c.Update(t.Context(), "/n", func([]byte, framework.Stat) ([]byte, bool, error) { return nil, true, errStopped })
		assert.ErrorIs(t, err, errStopped)
		assert.ErrorIs(t, c.Update(t.Context(), "/none", increment), framework.ErrNoNode)
		assert.ErrorIs(t, c.Update(t.Context(), "none", increment), framework.ErrInvalidPath)
		assert.ErrorIs(t, c.Update(t.Context(), "/n", become(string(make([]byte, 2000)))), framework.ErrTooLarge)
		assert.Equal(t, "1", stored(t, s))
		require.NoError(t, c.Close())
		assert.ErrorIs(t, c.Update(t.Context(), "/n", increment), framework.ErrClosed)
	})
}

// None of the changes that several clients make at the same time is undone.
func TestUpdatesAtTheSameTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s), connectAs(t, s, "other")
		counter(t, a)
		s.On(zktest.OpSetData, "/n").Client("client").Before().Delay(time.Second)
		var all []<-chan result[struct{}]
		for range 10 {
			for _, c := range []*framework.Client{a, b} {
				all = append(all, startErr(func() error { return c.Update(t.Context(), "/n", increment) }))
			}
		}
		for _, one := range all {
			require.NoError(t, (<-one).err)
		}
		assert.Equal(t, "20", stored(t, s))
	})
}

// Whether the answer is dropped, or the request: the change is carried out once.
func TestUpdateOfUnknownOutcome(t *testing.T) {
	for name, strike := range map[string]func(*zktest.Rule){
		"cut before":      func(r *zktest.Rule) { r.Before().Cut() },
		"cut after":       func(r *zktest.Rule) { r.After().Cut() },
		"reply dropped":   func(r *zktest.Rule) { r.After().DropReply() },
		"request dropped": func(r *zktest.Rule) { r.Before().DropReply() },
		"session lost":    func(r *zktest.Rule) { r.After().Expire() },
		"session gone":    func(r *zktest.Rule) { r.Before().Expire() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				counter(t, c)
				for i := range 3 {
					strike(s.On(zktest.OpSetData, "/n"))
					require.NoError(t, c.Update(t.Context(), "/n", increment))
					assert.Equal(t, strconv.Itoa(i+1), stored(t, s))
				}
				node, _ := s.Node("/n")
				assert.EqualValues(t, 3, node.Version)
			})
		})
	}
}

// Another client writes the same while the outcome is unknown: that does not count as
// the own write, unless it replaced the same version, which cannot be told apart.
func TestUpdateDoesNotTakeALaterWriteForItsOwn(t *testing.T) {
	for want, others := range map[string][]string{"2": {"7", "1"}, "1": {"1"}} {
		inBubble(t, func(t *testing.T, s *zktest.Server) {
			c, other := connect(t, s), connectAs(t, s, "other")
			counter(t, c)
			suspended := s.On(zktest.OpSetData, "/n").Client("client").Before().Cut()
			s.RefuseConnections("client", true)
			done := startErr(func() error { return c.Update(t.Context(), "/n", increment) })
			<-suspended.Fired()
			for _, data := range others {
				_, err := other.Set(t.Context(), "/n", []byte(data), framework.AnyVersion)
				require.NoError(t, err)
			}
			s.RefuseConnections("client", false)
			require.NoError(t, (<-done).err)
			assert.Equal(t, want, stored(t, s))
		})
	}
}

// After a write that was dropped with its session, the next session is attached to a
// server that lags behind and still shows older data.
func TestUpdateDoesNotTakeOldDataForItsWrite(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var away atomic.Bool
		c := connect(t, s, func(cfg *framework.Config) {
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if away.Load() {
					return s.Dial("elsewhere")(ctx, network, addr)
				}
				return s.Dial("client")(ctx, network, addr)
			}
		})
		counter(t, c)
		s.Lag("elsewhere", true)
		require.NoError(t, connectAs(t, s, "other").Update(t.Context(), "/n", become("7")))
		lost := s.On(zktest.OpSetData, "/n").Client("client").Before().Delay(time.Hour)
		done := startErr(func() error { return c.Update(t.Context(), "/n", become("0")) })
		<-lost.Fired()
		away.Store(true)
		require.True(t, s.ExpireSession(c.Session().ID()))
		require.NoError(t, (<-done).err)
		assert.Equal(t, "0", stored(t, s))
		s.Lag("elsewhere", false)
	})
}

// What ends before it is known whether the node was changed says so.
func TestUpdateThatIsGivenUp(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(s *zktest.Server, c *framework.Client)
		want error
	}{
		"its context ends":      {func(*zktest.Server, *framework.Client) {}, errStopped},
		"and the server's gone": {func(s *zktest.Server, _ *framework.Client) { suspend(s, "client") }, errStopped},
		"its session ends":      {func(s *zktest.Server, c *framework.Client) { s.ExpireSession(c.Session().ID()) }, framework.ErrSessionLost},
		"the client is closed":  {func(_ *zktest.Server, c *framework.Client) { _ = c.Close() }, framework.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				counter(t, c)
				sent := s.On(zktest.OpSetData, "/n").DropReply()
				done := startErr(func() error { return c.In(c.Session()).Update(within(t, time.Second), "/n", increment) })
				<-sent.Fired()
				tc.end(s, c)
				err := (<-done).err
				require.ErrorIs(t, err, tc.want)
				assert.Equal(t, framework.Unknown, framework.OutcomeOf(err), err)
			})
		})
	}
}

// An error of the caller's after a dropped answer does not hide that something may be
// written.
func TestUpdateThatIsRefusedAfterADroppedAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		counter(t, c)
		s.On(zktest.OpSetData, "/n").Before().Cut()
		calls := 0
		err := c.Update(t.Context(), "/n", func([]byte, framework.Stat) ([]byte, bool, error) {
			if calls++; calls > 1 {
				return nil, false, errStopped
			}
			return nil, true, nil
		})
		require.ErrorIs(t, err, errStopped)
		assert.Equal(t, framework.Unknown, framework.OutcomeOf(err), err)
	})
}

func TestUpdateOnceRepeatsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		counter(t, c)
		s.On(zktest.OpSetData, "/n").Fail(zktest.BadVersion)
		require.ErrorIs(t, kit.Of(c).Once().Update(t.Context(), "/n", increment), framework.ErrBadVersion)
		s.On(zktest.OpSetData, "/n").Before().Cut()
		require.ErrorIs(t, kit.Of(c).Once().Update(t.Context(), "/n", increment), framework.ErrUnknownOutcome)
		assert.Equal(t, "0", stored(t, s))
	})
}
