package framework_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// underWay holds back what a client sends while there is a jam, and delivers it after
// that even if the client has hung up meanwhile.
func underWay(conn net.Conn, j *jam) net.Conn {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		_, _ = io.Copy(far, conn)
	}()
	frames := make(chan []byte, 100)
	go func() {
		defer close(frames)
		for {
			buf := make([]byte, 32<<10)
			n, err := far.Read(buf)
			if err != nil {
				return
			}
			frames <- buf[:n]
		}
	}()
	go func() {
		defer conn.Close()
		for frame := range frames {
			j.wait(nil)
			if _, err := conn.Write(frame); err != nil {
				return
			}
		}
	}()
	return near
}

// The server gets the create when the next session has begun already: the one in which
// it was sent is over here, but not there.
func TestProtectedPersistentCreateCarriedOutAfterItsSessionWasGivenUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var j, now jam
		c := connect(t, s, func(cfg *framework.Config) {
			cfg.Reconnect = retry.Constant(10 * time.Millisecond)
			dial := cfg.Dial
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				if err != nil || now.is() {
					return conn, err
				}
				return underWay(conn, &j), nil
			}
		})
		require.NoError(t, c.CreateParents(t.Context(), "/queue/n-"))
		old := c.Session()
		j.set(true)
		now.set(true) // later connections are not held up
		s.RefuseConnections("client", true)
		_, err := c.CreateProtected(t.Context(), "/queue/n-", nil, framework.PersistentSequential)
		require.ErrorIs(t, err, framework.ErrTrustExpired)
		s.RefuseConnections("client", false)
		time.Sleep(500 * time.Millisecond)
		require.Equal(t, connected, c.State())
		require.NotEqual(t, old.ID(), c.Session().ID())

		require.Empty(t, s.Children("/queue"))
		j.set(false)
		synctest.Wait()
		require.Len(t, s.Children("/queue"), 1, "it was carried out in the old session")
		time.Sleep(2 * timeout)
		assert.Empty(t, s.Children("/queue"))
	})
}

// A crowd whose callers leave while their creates are under way has each node deleted
// when the answer comes, and has nothing searched.
func TestACrowdThatLeavesMakesNoSearch(t *testing.T) {
	forEachMaker(t, func(t *testing.T, p place, op zktest.Op, create func(context.Context) error) {
		const many = 50
		var searches atomic.Int32
		p.server.SetFaults(func(call zktest.Call) zktest.Action {
			if call.Phase == zktest.PhaseBeforeApply && call.Path != "/" && (call.Op == zktest.OpSync || call.Op == zktest.OpGetChildren2 || call.Op == zktest.OpExists) {
				searches.Add(1)
			}
			return zktest.Pass
		})
		p.server.Stall("client", true)
		var calls []<-chan result[struct{}]
		for range many {
			calls = append(calls, startErr(func() error { return create(within(t, 500*time.Millisecond)) }))
		}
		for _, call := range calls {
			r := <-call
			require.ErrorIs(t, r.err, errStopped)
			require.ErrorIs(t, r.err, framework.ErrUnknownOutcome)
		}
		p.server.Stall("client", false)
		time.Sleep(time.Second)
		assert.Empty(t, p.nodes())
		assert.Equal(t, many, p.server.Count(op))
		assert.Zero(t, searches.Load())
	})
}

// The server is asked for what was made as long as it takes, also by later sessions.
func TestProtectedPersistentCreateAnsweredLateWhoseSessionThenEnds(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		p.server.On(zktest.OpCreate, "").After().Delay(time.Second)
		deletes := p.server.On(zktest.OpDelete, "").Always().Cut()
		_, err := p.CreateProtected(within(t, 500*time.Millisecond), "/queue/n-", nil, framework.PersistentSequential)
		require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		time.Sleep(2 * time.Second)
		require.Len(t, p.nodes(), 1)
		p.server.ExpireSession(p.Session().ID())
		deletes.Remove()
		time.Sleep(2 * timeout)
		assert.Empty(t, p.nodes())
	})
}

// When Close has begun, only the session of the create can still remove what was made.
func TestProtectedPersistentCreateAnsweredLateWhileTheClientIsClosed(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		require.True(t, kit.Of(p.Client).GoHolding(p.Session(), func() {}, func(ctx context.Context) { <-ctx.Done() }))
		p.server.On(zktest.OpCreate, "").After().Delay(time.Second)
		_, err := p.CreateProtected(within(t, 500*time.Millisecond), "/queue/n-", nil, framework.PersistentSequential)
		require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		require.NoError(t, p.Close())
		assert.Empty(t, p.nodes())
	}, func(cfg *framework.Config) { cfg.CloseGrace = 2 * time.Second })
}

// The first attempt breaks the connection, and is carried out after the search behind
// it. The caller leaves during the second, which is refused for that reason, or is
// carried out too.
func TestAnswerThatComesLateAlthoughAnEarlierAttemptWasCarriedOut(t *testing.T) {
	for mode, nodes := range map[framework.Mode]int{framework.Ephemeral: 1, framework.EphemeralSequential: 2} {
		t.Run(mode.String(), func(t *testing.T) {
			protect(t, func(t *testing.T, p place) { leaveSecondAttempt(t, p, mode, nodes) })
		})
	}
}

func leaveSecondAttempt(t *testing.T, p place, mode framework.Mode, nodes int) {
	t.Helper()
	var stage atomic.Int32
	var asked string
	looked := make(chan struct{})
	p.server.SetFaults(func(c zktest.Call) zktest.Action {
		switch {
		case c.Op == zktest.OpCreate && c.Phase == zktest.PhaseBeforeApply && stage.CompareAndSwap(0, 1):
			asked = c.Path[strings.LastIndexByte(c.Path, '/'):]
			return zktest.CutConnection
		case c.Op == zktest.OpGetChildren2 && c.Phase == zktest.PhaseAfterApply && stage.CompareAndSwap(1, 2):
			close(looked) // and seen none
			return zktest.Delay(time.Second)
		case c.Op == zktest.OpCreate && c.Phase == zktest.PhaseAfterApply && stage.CompareAndSwap(2, 3):
			return zktest.Pass // made below
		case c.Op == zktest.OpCreate && c.Phase == zktest.PhaseAfterApply && stage.Load() == 3:
			return zktest.Delay(time.Second)
		}
		return zktest.Pass
	})
	call := startErr(func() error {
		_, err := p.CreateProtected(within(t, 2*time.Second), "/queue/n-0000000007", nil, mode)
		return err
	})
	<-looked
	_, err := p.Create(t.Context(), "/queue"+asked, nil, mode) // as the first attempt would have
	require.NoError(t, err)
	r := <-call
	require.ErrorIs(t, r.err, errStopped)
	require.ErrorIs(t, r.err, framework.ErrUnknownOutcome)
	require.Len(t, p.nodes(), nodes)
	time.Sleep(2 * time.Second)
	assert.Empty(t, p.nodes())
}
