package framework_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// ensemble is three addresses of one server, each of which can be paused as a process
// is: connections stay, new ones are accepted, nothing is answered.
type ensemble struct {
	server *zktest.Server

	mu     sync.Mutex
	paused map[string]bool
}

var addresses = []string{"a:2181", "b:2181", "c:2181"}

func (e *ensemble) setting(cfg *framework.Config) {
	special := map[string]dialer{}
	for _, addr := range addresses {
		special[addr] = func(ctx context.Context, network, _ string) (net.Conn, error) {
			e.mu.Lock()
			paused := e.paused[addr]
			e.mu.Unlock()
			if paused {
				return mute(ctx, network, addr)
			}
			return e.server.Dial(addr)(ctx, network, e.server.Addr())
		}
	}
	fronts(e.server, special, addresses...)(cfg)
}

func (e *ensemble) pause(addr string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paused == nil {
		e.paused = map[string]bool{}
	}
	e.paused[addr] = true
	e.server.Stall(addr, true)
}

// attached returns the address that the only session is attached to.
func (e *ensemble) attached(t *testing.T) string {
	t.Helper()
	infos := e.server.Sessions()
	require.Len(t, infos, 1)
	require.True(t, infos[0].Connected)
	return infos[0].Client
}

// The server of an idle session is paused: another takes over in time, whichever is
// tried next.
func TestIdleSessionSurvivesThePauseOfItsServer(t *testing.T) {
	t.Parallel()
	for i := range 60 {
		inBubble(t, func(t *testing.T, s *zktest.Server) {
			e := &ensemble{server: s}
			c := connect(t, s, e.setting)
			session := c.Session()
			for range i % 4 {
				s.DropConnections("")
				time.Sleep(2 * time.Second)
			}
			first := e.attached(t)
			time.Sleep(time.Second)
			e.pause(first)
			time.Sleep(2 * timeout)
			require.NoError(t, session.Err())
			require.NotEqual(t, first, e.attached(t))
		})
	}
}

// With a request under way the silence is noticed after a sixth of the timeout.
func TestSilentServerIsLeftAfterASixthOfTheTimeout(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		e := &ensemble{server: s}
		c := connect(t, s, e.setting)
		e.pause(e.attached(t))
		r := <-startErr(func() error { _, _, err := c.Exists(t.Context(), "/"); return err })
		require.NoError(t, r.err, "a read goes on at the next server")
		assert.GreaterOrEqual(t, r.took, timeout/6)
		assert.Less(t, r.took, timeout/6+timeout/12+200*time.Millisecond)
	})
}

// A server that was cut off from its leader answers reads and pings for a while, but
// nothing that needs the leader. A session that is busy reading must leave it while
// there is time, as an idle one does.
func TestServerWithoutALeaderIsLeftInTime(t *testing.T) {
	for name, pause := range map[string]time.Duration{"busy": 100 * time.Millisecond, "idle": time.Second * 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				e := &ensemble{server: s}
				c := connect(t, s, e.setting)
				session := c.Session()
				time.Sleep(2 * timeout)
				first := e.attached(t)
				s.On(zktest.OpSync, "").Client(first).Always().DropReply()
				end := time.Now().Add(2 * timeout)
				for time.Now().Before(end) {
					_, _, err := c.Exists(t.Context(), "/")
					require.NoError(t, err)
					time.Sleep(pause)
				}
				require.NoError(t, session.Err())
				require.NotEqual(t, first, e.attached(t))
			})
		})
	}
}

// Two of three servers are paused already when the client comes.
func TestPausedServersCostASixthOfTheTimeoutEachWhenConnecting(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		for range 10 {
			e := &ensemble{server: s}
			e.pause("a:2181")
			e.pause("b:2181")
			begun := time.Now()
			c := connect(t, s, e.setting)
			assert.LessOrEqual(t, time.Since(begun), 2*timeout/6)
			require.NoError(t, c.Close())
		}
	})
}

// An answer that never comes is given up although the server answers pings.
func TestRequestThatIsNeverAnsweredBreaksTheConnection(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ configured, limit time.Duration }{
		"by default after two thirds of the timeout": {0, 2 * timeout / 3},
		"as configured": {4 * time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				var seen record
				c := connect(t, s, recording(&seen), func(cfg *framework.Config) { cfg.RequestTimeout = tc.configured })
				session := c.Session()
				// Other requests are answered all the time, so the server is not
				// silent.
				busy, stop := context.WithCancel(t.Context())
				done := startErr(func() error {
					for busy.Err() == nil {
						_, _, _ = c.Exists(busy, "/")
						time.Sleep(200 * time.Millisecond)
					}
					return nil
				})
				_, err := c.Create(t.Context(), "/node", nil, framework.Persistent)
				require.NoError(t, err)
				s.On(zktest.OpSetData, "/node").DropReply()
				r := <-start(func() (framework.Stat, error) { return c.Set(t.Context(), "/node", nil, 0) })
				require.ErrorIs(t, r.err, framework.ErrUnknownOutcome)
				assert.GreaterOrEqual(t, r.took, tc.limit)
				assert.Less(t, r.took, tc.limit+timeout/12)
				stop()
				<-done
				time.Sleep(time.Second)
				assert.NoError(t, session.Err())
				assert.Equal(t, []framework.State{framework.Connecting, connected, suspended, connected}, seen.states())
			})
		})
	}
}

// trickle is a connection over which bytes come slowly.
type trickle struct {
	net.Conn
	slow func() bool
}

func (c trickle) Read(p []byte) (int, error) {
	if !c.slow() {
		return c.Conn.Read(p)
	}
	time.Sleep(100 * time.Millisecond)
	return c.Conn.Read(p[:min(len(p), 8<<10)])
}

// A large answer over a slow line is not silence.
func TestSlowAnswerIsNotSilence(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var seen record
		var mu sync.Mutex
		slow := false
		c := connect(t, s, recording(&seen), func(cfg *framework.Config) {
			dial := cfg.Dial
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				return trickle{conn, func() bool { mu.Lock(); defer mu.Unlock(); return slow }}, err
			}
		})
		// 5.5 s: a ping goes out after 3 s, is not answered for more than a sixth of
		// the timeout because it has to wait its turn, but is before the deadline.
		data := make([]byte, 430<<10)
		_, err := c.Create(t.Context(), "/big", data, framework.Persistent)
		require.NoError(t, err)
		synctest.Wait()
		mu.Lock()
		slow = true
		mu.Unlock()
		got, _, err := c.Get(within(t, time.Minute), "/big")
		require.NoError(t, err)
		assert.Len(t, got, len(data))
		assert.Equal(t, []framework.State{framework.Connecting, connected}, seen.states())
	})
}

// slowToClose is a connection whose reader learns of a close before the closer goes on.
type slowToClose struct{ net.Conn }

func (c slowToClose) Close() error {
	err := c.Conn.Close()
	synctest.Wait()
	return err
}

func TestSilenceIsTheReasonWhateverTheSocketSays(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		dial := s.Dial("client")
		c := connect(t, s, func(cfg *framework.Config) {
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				if err != nil {
					return nil, err
				}
				return slowToClose{conn}, nil
			}
		})
		s.Partition("", true)
		for change := range c.States(within(t, timeout)) {
			if change.State == framework.Suspended {
				require.ErrorContains(t, change.Err, "no answer in time")
				return
			}
		}
		require.Fail(t, "never suspended")
	})
}
