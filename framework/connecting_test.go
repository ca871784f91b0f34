package framework_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// connecting starts a connect that ends with ctx after d, and asserts that it does so
// on time, with the reason and every address in the error.
func connectInVain(t *testing.T, s *zktest.Server, d time.Duration, settings ...setting) error {
	t.Helper()
	begun := time.Now()
	cfg := config(s, "client", settings...)
	_, err := framework.Connect(within(t, d), cfg)
	took := time.Since(begun)
	require.Error(t, err)
	assert.GreaterOrEqual(t, took, d)
	assert.LessOrEqual(t, took, d+100*time.Millisecond)
	assert.ErrorIs(t, err, errStopped)
	return err
}

func TestConnectWithoutAServer(t *testing.T) {
	hang := map[string]dialer{"a:2181": blackHole, "b:2181": blackHole, "c:2181": blackHole}
	silence := map[string]dialer{"a:2181": mute, "b:2181": mute, "c:2181": mute}
	for name, tc := range map[string]struct {
		prepare func(s *zktest.Server)
		setting func(s *zktest.Server) setting
		says    string
	}{
		"refused": {
			func(s *zktest.Server) {
				for _, addr := range addresses {
					s.RefuseConnections(addr, true)
				}
			},
			func(s *zktest.Server) setting { return fronts(s, nil, addresses...) }, "refused",
		},
		"black-holed": {
			func(*zktest.Server) {}, func(s *zktest.Server) setting { return fronts(s, hang, addresses...) }, "",
		},
		"accepted and never answered": {
			func(*zktest.Server) {}, func(s *zktest.Server) setting { return fronts(s, silence, addresses...) }, "",
		},
		"paused": {
			func(s *zktest.Server) { s.Pause() }, func(s *zktest.Server) setting { return fronts(s, nil, addresses...) }, "",
		},
		"hung up on": {
			func(s *zktest.Server) { s.On(zktest.OpConnect, "").Always().Cut() },
			func(s *zktest.Server) setting { return fronts(s, nil, addresses...) }, "EOF",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				tc.prepare(s)
				err := connectInVain(t, s, 20*time.Second, tc.setting(s))
				require.ErrorIs(t, err, framework.ErrNotConnected)
				assert.NotErrorIs(t, err, context.DeadlineExceeded, "an attempt's own limit is not the caller's")
				var all *framework.ConnectError
				require.ErrorAs(t, err, &all)
				assert.Len(t, all.Attempts, 3)
				for _, addr := range addresses {
					assert.Contains(t, err.Error(), addr)
				}
				assert.Contains(t, err.Error(), tc.says)
				for _, a := range all.Attempts {
					assert.Error(t, a.Err)
					assert.False(t, a.At.IsZero())
				}
				err = connectInVain(t, s, time.Millisecond, tc.setting(s))
				require.ErrorIs(t, err, framework.ErrNotConnected)
			})
		})
	}
}

func TestConnectIsCancelled(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStopped)
		begun := time.Now()
		_, err := framework.Connect(ctx, config(s, "client", fronts(s, map[string]dialer{"a:2181": blackHole}, "a:2181")))
		require.ErrorIs(t, err, errStopped)
		assert.LessOrEqual(t, time.Since(begun), 100*time.Millisecond)
	})
}

// One healthy server among others is found, whatever the order.
func TestConnectFindsTheHealthyServer(t *testing.T) {
	for name, bad := range map[string]dialer{
		"black-holed": blackHole, "mute": mute,
		"refusing": func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				for range 10 {
					begun := time.Now()
					c := connect(t, s, fronts(s, map[string]dialer{"a:2181": bad, "b:2181": bad}, addresses...))
					assert.LessOrEqual(t, time.Since(begun), 2*timeout/6, "a bad server costs a sixth of the timeout")
					require.NoError(t, c.Close())
				}
			})
		})
	}
}

// Dial and handshake together cost a sixth of the timeout.
func TestSlowAndSilentServerCostsASixthOfTheTimeout(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		slow := func(ctx context.Context, network, addr string) (net.Conn, error) {
			select {
			case <-time.After(timeout/6 - 100*time.Millisecond):
				return mute(ctx, network, addr)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		for range 10 {
			begun := time.Now()
			c := connect(t, s, fronts(s, map[string]dialer{"a:2181": slow}, "a:2181", "b:2181"))
			assert.LessOrEqual(t, time.Since(begun), timeout/6)
			require.NoError(t, c.Close())
		}
	})
}

// A server that comes back is found soon, however long it was away.
func TestConnectWaitsForAServerToComeUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		s.RefuseConnections("client", true)
		call := start(func() (*framework.Client, error) { return framework.Connect(t.Context(), config(s, "client")) })
		time.Sleep(time.Hour)
		s.RefuseConnections("client", false)
		back := time.Now()
		r := <-call
		require.NoError(t, r.err)
		assert.LessOrEqual(t, time.Since(back), time.Second)
		require.NoError(t, r.value.Close())
	})
}

// counting counts the dials of a client.
func counting(n *atomic.Int64) setting {
	return func(cfg *framework.Config) {
		dial := cfg.Dial
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			n.Add(1)
			return dial(ctx, network, addr)
		}
	}
}

// The client library reconnected 4258 times in 1.5 s to three such servers.
func TestServersThatAcceptAndDropAreNotHammered(t *testing.T) {
	for name, prepare := range map[string]func(s *zktest.Server){
		"at the handshake": func(s *zktest.Server) { s.On(zktest.OpConnect, "").Always().Cut() },
		"after it":         func(s *zktest.Server) { s.On(zktest.OpConnect, "").After().Always().Cut() },
		"refusing":         func(s *zktest.Server) { s.RefuseConnections("", true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				var dials atomic.Int64
				prepare(s)
				_ = connectInVain(t, s, time.Minute, fronts(s, nil, addresses...), counting(&dials))
				assert.LessOrEqual(t, dials.Load(), int64(150), "once a second, and somewhat faster at first")
				assert.GreaterOrEqual(t, dials.Load(), int64(30))
			})
		})
	}
}

// The session is accepted, and its connection closed soon after: again and again.
func TestConnectionsThatBreakAfterAMomentAreNotHammered(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var dials atomic.Int64
		c := connect(t, s, fronts(s, nil, addresses...), counting(&dials))
		s.On(zktest.OpConnect, "").Always().After().Cut()
		s.DropConnections("")
		time.Sleep(time.Minute)
		assert.LessOrEqual(t, dials.Load(), int64(240), "closing the lost session on the server included")
		require.NoError(t, c.Close())
	})
}

// say answers any request on a connection with its bytes.
func say(reply func(request []byte) []byte) dialer {
	return func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			head := make([]byte, 4)
			if _, err := io.ReadFull(far, head); err != nil {
				return
			}
			body := make([]byte, binary.BigEndian.Uint32(head))
			if _, err := io.ReadFull(far, body); err != nil {
				return
			}
			_, _ = far.Write(reply(body))
			_, _ = io.Copy(io.Discard, far)
		}()
		return near, nil
	}
}

// accepted is the reply to a connect request that grants a session with a timeout.
func accepted(timeoutMillis int32) []byte {
	b := binary.BigEndian.AppendUint32(nil, 36)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(timeoutMillis))
	b = binary.BigEndian.AppendUint64(b, 99)
	b = binary.BigEndian.AppendUint32(b, 16)
	return append(b, make([]byte, 16)...)
}

func TestServersThatTalkNonsenseAreLeft(t *testing.T) {
	huge := []byte{0x7f, 0xff, 0xff, 0xff}
	for name, reply := range map[string][]byte{
		"a web server":             []byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
		"an empty frame":           {0, 0, 0, 0},
		"a short frame":            {0, 0, 0, 3, 1, 2, 3},
		"a frame of two gigabytes": huge,
		"a negative length":        {0xff, 0xff, 0xff, 0xff},
		"a password of two gigabytes": append(append([]byte{0, 0, 0, 20}, make([]byte, 4+4)...),
			append([]byte{0, 0, 0, 0, 0, 0, 0, 9}, huge...)...),
		"a timeout of nothing": accepted(0),
		"a timeout of less":    accepted(-1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				bad := say(func([]byte) []byte { return reply })
				for range 5 {
					c := connect(t, s, fronts(s, map[string]dialer{"a:2181": bad}, "a:2181", "b:2181"))
					require.NoError(t, c.Close())
				}
				err := connectInVain(t, s, 5*time.Second, fronts(s, map[string]dialer{"a:2181": bad}, "a:2181"))
				assert.ErrorIs(t, err, framework.ErrNotConnected)
			})
		})
	}
}

// Garbage in the middle of a session breaks the connection, not the client.
func TestGarbageInASessionIsSurvived(t *testing.T) {
	for name, garbage := range map[string][]byte{
		"a short frame":     {0, 0, 0, 2, 1, 2},
		"a huge frame":      {0x7f, 0xff, 0xff, 0xff},
		"a negative length": {0x80, 0, 0, 0},
		"an answer to nothing": {
			0, 0, 0, 16, 0, 0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
		},
		"an event that says nothing": {
			0, 0, 0, 16, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
		},
		"a pong to no ping": {
			0, 0, 0, 16, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				var inject injector
				c := connect(t, s, inject.setting)
				session := c.Session()
				until := session.TrustedUntil()
				time.Sleep(time.Second)
				inject.send(garbage)
				time.Sleep(100 * time.Millisecond)
				if c.State() == connected && session.TrustedUntil() != until {
					assert.Greater(t, s.Count(zktest.OpConnect), 1, "nonsense proves nothing")
				}
				time.Sleep(2 * time.Second)
				_, _, err := c.Exists(t.Context(), "/")
				require.NoError(t, err)
				assert.NoError(t, session.Err())
			})
		})
	}
}

// injector puts bytes into the stream from the server.
type injector struct {
	mu    sync.Mutex
	queue chan []byte
}

func (i *injector) setting(cfg *framework.Config) {
	dial := cfg.Dial
	cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		near, far := net.Pipe()
		queue := make(chan []byte, 1)
		i.mu.Lock()
		i.queue = queue
		i.mu.Unlock()
		done := make(chan struct{})
		fromServer := make(chan []byte)
		go func() { // to the server
			_, _ = io.Copy(conn, far)
			conn.Close()
		}()
		go func() {
			defer close(fromServer)
			for {
				buf := make([]byte, 32<<10)
				n, err := conn.Read(buf)
				if err != nil {
					return
				}
				select {
				case fromServer <- buf[:n]:
				case <-done:
					return
				}
			}
		}()
		go func() {
			defer far.Close()
			defer conn.Close()
			defer close(done)
			for {
				var b []byte
				var ok bool
				select {
				case b, ok = <-fromServer:
				case b, ok = <-queue:
				}
				if !ok {
					return
				}
				if _, err := far.Write(b); err != nil {
					return
				}
			}
		}()
		return near, nil
	}
}

func (i *injector) send(b []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.queue <- b
}
