package guard

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/retry"
)

// A nameServer answers questions for addresses, which can change.
type nameServer struct {
	mu      sync.Mutex
	records map[string][]string // by name with a final dot
	down    bool
	asked   int
}

func (n *nameServer) say(name string, ips ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.records == nil {
		n.records = map[string][]string{}
	}
	n.records[name] = ips
}

func (n *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.down {
			return nil, errors.New("name server is down")
		}
		near, far := net.Pipe()
		go n.serve(far)
		return near, nil
	}}
}

// serve speaks DNS over a stream: messages behind a length of two bytes.
func (n *nameServer) serve(conn net.Conn) {
	defer conn.Close()
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(head))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		reply := n.answer(query)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

func (n *nameServer) answer(query []byte) []byte {
	var name strings.Builder
	at := 12
	for query[at] != 0 {
		name.Write(query[at+1 : at+1+int(query[at])])
		name.WriteByte('.')
		at += 1 + int(query[at])
	}
	question := query[12 : at+5]
	isA := query[at+2] == 1
	n.mu.Lock()
	ips := n.records[name.String()]
	if isA {
		n.asked++
	}
	n.mu.Unlock()
	reply := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
	if len(ips) == 0 {
		reply[3] |= 3 // no such name
		return reply
	}
	if isA {
		reply[7] = byte(len(ips))
		for _, ip := range ips {
			reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			reply = append(reply, netip.MustParseAddr(ip).AsSlice()...)
		}
	}
	return reply
}

func newServers(n *nameServer, names ...string) *Servers {
	s := NewServers(testConfig(), names)
	if n != nil {
		s.resolver = n.resolver()
	}
	return s
}

func dialed(targets []target) []string {
	var addrs []string
	for _, t := range targets {
		addrs = append(addrs, t.addr)
	}
	return addrs
}

// Restarted pods have new addresses.
func TestNamesAreLookedUpAgainInEachRound(t *testing.T) {
	t.Parallel()
	var n nameServer
	n.say("zk.test.", "10.0.0.1")
	s := newServers(&n, "zk.test.:2181")
	for _, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
		n.say("zk.test.", ip)
		got, err := s.next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, target{name: "zk.test.:2181", addr: ip + ":2181"}, got)
		assert.Contains(t, got.String(), "zk.test")
		assert.Contains(t, got.String(), ip)
	}
	assert.Equal(t, 3, n.asked)
}

// Each name is tried before any name's second address.
func TestRoundTriesEveryNameFirst(t *testing.T) {
	t.Parallel()
	var n nameServer
	n.say("a.test.", "10.0.0.1", "10.0.0.2", "10.0.0.3")
	n.say("b.test.", "10.1.0.1", "10.1.0.2")
	s := newServers(&n, "a.test.:2181", "b.test.:2181", "192.0.2.1:99")
	orders := map[string]bool{}
	for range 20 {
		round := s.lookUp(t.Context())
		require.Len(t, round, 6)
		names := map[string]bool{}
		for _, target := range round[:3] {
			names[target.name] = true
		}
		assert.Len(t, names, 3)
		assert.ElementsMatch(t, dialed(round), []string{
			"10.0.0.1:2181", "10.0.0.2:2181", "10.0.0.3:2181", "10.1.0.1:2181", "10.1.0.2:2181", "192.0.2.1:99",
		})
		orders[strings.Join(dialed(round), " ")] = true
	}
	assert.Greater(t, len(orders), 5, "not all clients begin with the same server")
}

func TestNameServerOutageFallsBackOnWhatWasKnown(t *testing.T) {
	t.Parallel()
	var n nameServer
	n.say("a.test.", "10.0.0.1")
	s := newServers(&n, "a.test.:2181", "b.test.:2181")
	assert.Equal(t, []string{"10.0.0.1:2181"}, dialed(s.lookUp(t.Context())))
	assert.Contains(t, fmt.Sprint(s.Attempts()), "b.test", "a name that does not exist is reported")
	n.mu.Lock()
	n.down = true
	n.mu.Unlock()
	assert.Equal(t, []string{"10.0.0.1:2181"}, dialed(s.lookUp(t.Context())))
}

// One unresolvable name must not keep the others from being used.
func TestNextSkipsNamesThatDoNotResolve(t *testing.T) {
	t.Parallel()
	var n nameServer
	n.say("b.test.", "10.1.0.1")
	s := newServers(&n, "a.test.:2181", "b.test.:2181")
	for range 5 {
		got, err := s.next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "10.1.0.1:2181", got.addr)
	}
}

func TestNextEndsWithTheContextWhenNothingResolves(t *testing.T) {
	t.Parallel()
	s := newServers(new(nameServer), "a.test.:2181")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Contains(t, fmt.Sprint(s.Attempts()), "a.test")
}

// If the session ends while names are looked up, there is no dial, and the incomplete
// result is not kept.
func TestNextEndsWithTheContextAlsoWhenItKnowsAddresses(t *testing.T) {
	t.Parallel()
	s := newServers(nil, "a.test.:2181")
	s.known["a.test.:2181"] = []string{"10.0.0.1:2181"}
	ctx, cancel := context.WithCancel(t.Context())
	s.resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		cancel()
		return nil, errors.New("name server is down")
	}}
	_, err := s.next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, s.round)
}

func TestServerThatFailedLastIsTriedLast(t *testing.T) {
	t.Parallel()
	s := newServers(nil, "10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1")
	for i := range 30 {
		left := s.names[i%3]
		s.failed(left, errors.New("silent"))
		round := dialed(s.lookUp(t.Context()))
		require.Len(t, round, 3)
		assert.Equal(t, left, round[2])
	}
}

// The first attempt at each server is made at once, then attempts back off. The backoff
// starts again only after a stable connection.
func TestBackoffOfAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(nil, "10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1")
		s.cfg.Reconnect = retry.Constant(time.Second)
		s.backoff = s.cfg.Reconnect.Start()
		waits := func(n int) (all []time.Duration) {
			for range n {
				begun := time.Now()
				_, err := s.next(t.Context())
				require.NoError(t, err)
				all = append(all, time.Since(begun))
			}
			return all
		}
		assert.Equal(t, []time.Duration{0, 0, 0, time.Second, time.Second, time.Second}, waits(6))
		s.attached("10.0.0.1:1")
		time.Sleep(stable / 2)
		assert.Equal(t, []time.Duration{time.Second}, waits(1), "it did not last")
		s.attached("10.0.0.1:1")
		time.Sleep(stable)
		assert.Equal(t, []time.Duration{0, 0, 0, time.Second}, waits(4))
	})
}

func TestFailuresAreRememberedOncePerAddress(t *testing.T) {
	t.Parallel()
	s := newServers(nil, "10.0.0.1:1")
	assert.Empty(t, s.Attempts())
	for range 100 {
		s.failed("10.0.0.1:1", errors.New("first"))
		s.failed("10.0.0.2:1", errors.New("second"))
	}
	s.failed("10.0.0.1:1", errors.New("newest"))
	all := s.Attempts()
	require.Len(t, all, 2)
	assert.Equal(t, "10.0.0.2:1 second 10.0.0.1:1 newest", fmt.Sprint(all[0].Addr, " ", all[0].Err, " ", all[1].Addr, " ", all[1].Err))
	s.attached("10.0.0.1:1")
	assert.Equal(t, errNotReady, s.Attempts()[1].Err)
	s.ready("10.0.0.1:1")
	assert.Len(t, s.Attempts(), 1)
	for i := range 100 {
		s.failed(net.JoinHostPort("h", string(rune('a'+i%26))+string(rune('a'+i/26))), errors.New("x"))
	}
	assert.LessOrEqual(t, len(s.Attempts()), 32)
}

// A server that has refused the credentials accepts the next connection, and closes it,
// before it refuses them again.
func TestARefusalIsNotForgottenBeforeASessionIsReady(t *testing.T) {
	t.Parallel()
	c := scripted(nil)
	servers := c.guard.servers
	refused := fmt.Errorf("credential 1: %w", ErrAuthFailed)
	servers.failed("a", refused)
	c.mu.Lock()
	c.attached = true
	c.mu.Unlock()
	servers.attached("a")
	c.broke(io.EOF)
	require.Len(t, servers.Attempts(), 1)
	require.Equal(t, refused, servers.Attempts()[0].Err)
	servers.ready("a")
	require.Empty(t, servers.Attempts())
	servers.failed("a", refused)
	servers.failed("a", errors.New("connection refused"))
	require.False(t, servers.refuses("a"), "but for another reason")
}
