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

// A nameServer answers questions for addresses; it can change its mind.
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
	b := NewServers(testConfig(), names)
	if n != nil {
		b.resolver = n.resolver()
	}
	return b
}

func dialed(targets []target) []string {
	var addrs []string
	for _, t := range targets {
		addrs = append(addrs, t.addr)
	}
	return addrs
}

// Pods come back with other addresses.
func TestNamesAreLookedUpAgainInEachRound(t *testing.T) {
	t.Parallel()
	var n nameServer
	n.say("zk.test.", "10.0.0.1")
	b := newServers(&n, "zk.test.:2181")
	for _, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
		n.say("zk.test.", ip)
		got, err := b.next(t.Context())
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
	b := newServers(&n, "a.test.:2181", "b.test.:2181", "192.0.2.1:99")
	orders := map[string]bool{}
	for range 20 {
		round := b.lookUp(t.Context())
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
	b := newServers(&n, "a.test.:2181", "b.test.:2181")
	assert.Equal(t, []string{"10.0.0.1:2181"}, dialed(b.lookUp(t.Context())))
	assert.Contains(t, fmt.Sprint(b.Attempts()), "b.test", "a name that does not exist is reported")
	n.mu.Lock()
	n.down = true
	n.mu.Unlock()
	assert.Equal(t, []string{"10.0.0.1:2181"}, dialed(b.lookUp(t.Context())))
}

// One unresolvable name must not keep the others from being used.
func TestNextSkipsNamesThatDoNotResolve(t *testing.T) {
	t.Parallel()
	var n nameServer
	n.say("b.test.", "10.1.0.1")
	b := newServers(&n, "a.test.:2181", "b.test.:2181")
	for range 5 {
		got, err := b.next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "10.1.0.1:2181", got.addr)
	}
}

func TestNextEndsWithTheContextWhenNothingResolves(t *testing.T) {
	t.Parallel()
	b := newServers(new(nameServer), "a.test.:2181")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := b.next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Contains(t, fmt.Sprint(b.Attempts()), "a.test")
}

// Nobody dials for a session that has ended while names were looked up, and what was
// found by then is not all there is.
func TestNextEndsWithTheContextAlsoWhenItKnowsAddresses(t *testing.T) {
	t.Parallel()
	b := newServers(nil, "a.test.:2181")
	b.known["a.test.:2181"] = []string{"10.0.0.1:2181"}
	ctx, cancel := context.WithCancel(t.Context())
	b.resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		cancel()
		return nil, errors.New("name server is down")
	}}
	_, err := b.next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, b.round)
}

func TestServerThatFailedLastIsTriedLast(t *testing.T) {
	t.Parallel()
	b := newServers(nil, "10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1")
	for i := range 30 {
		left := b.names[i%3]
		b.failed(left, errors.New("silent"))
		round := dialed(b.lookUp(t.Context()))
		require.Len(t, round, 3)
		assert.Equal(t, left, round[2])
	}
}

// The first attempt at each server is made at once, then the pace slows down; it starts
// afresh after a connection that lasted, and only then.
func TestPaceOfAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newServers(nil, "10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1")
		b.cfg.Reconnect = retry.Forever(time.Second)
		b.backoff = b.cfg.Reconnect.Start()
		waits := func(n int) (all []time.Duration) {
			for range n {
				begun := time.Now()
				_, err := b.next(t.Context())
				require.NoError(t, err)
				all = append(all, time.Since(begun))
			}
			return all
		}
		assert.Equal(t, []time.Duration{0, 0, 0, time.Second, time.Second, time.Second}, waits(6))
		b.attached("10.0.0.1:1")
		time.Sleep(stable / 2)
		assert.Equal(t, []time.Duration{time.Second}, waits(1), "it did not last")
		b.attached("10.0.0.1:1")
		time.Sleep(stable)
		assert.Equal(t, []time.Duration{0, 0, 0, time.Second}, waits(4))
	})
}

func TestFailuresAreRememberedOncePerAddress(t *testing.T) {
	t.Parallel()
	b := newServers(nil, "10.0.0.1:1")
	assert.Empty(t, b.Attempts())
	for range 100 {
		b.failed("10.0.0.1:1", errors.New("first"))
		b.failed("10.0.0.2:1", errors.New("second"))
	}
	b.failed("10.0.0.1:1", errors.New("newest"))
	all := b.Attempts()
	require.Len(t, all, 2)
	assert.Equal(t, "10.0.0.2:1 second 10.0.0.1:1 newest", fmt.Sprint(all[0].Addr, " ", all[0].Err, " ", all[1].Addr, " ", all[1].Err))
	b.attached("10.0.0.1:1")
	assert.Equal(t, errNotReady, b.Attempts()[1].Err)
	b.ready("10.0.0.1:1")
	assert.Len(t, b.Attempts(), 1)
	for i := range 100 {
		b.failed(net.JoinHostPort("h", string(rune('a'+i%26))+string(rune('a'+i/26))), errors.New("x"))
	}
	assert.LessOrEqual(t, len(b.Attempts()), 32)
}

// A server that has refused the credentials accepts the connection again, and hangs up
// again, before it refuses them again.
func TestARefusalIsNotForgottenBeforeASessionIsReady(t *testing.T) {
	t.Parallel()
	c, _ := scripted(nil)
	servers := c.guard.servers
	refused := fmt.Errorf("config.Auth[0]: %w", ErrAuthFailed)
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
