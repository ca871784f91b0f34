package zktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a single ZooKeeper server in memory. [NewServer] and [Start] make it; the
// zero value is not usable. Its methods may be called concurrently, also from the
// function of [Server.SetFaults], except Close and Settle, which wait for the server.
type Server struct {
	cfg      config
	addr     string
	listener net.Listener // nil on a Network
	faults   *faults
	stepper  *stepper // nil without WithStepper

	done   chan struct{} // closed by Close
	kick   chan struct{} // wakes the clock
	wg     sync.WaitGroup
	closer sync.Once

	// mu guards all fields below, and some of connections. It is never held during a
	// wait. The only locks taken under it are those of queues and in-memory pipes.
	mu          sync.Mutex
	main        *replica
	lagging     map[string]*replica  // by client
	minorities  []*Minority          // in the order they were made
	cutOff      map[string]*Minority // by client
	sessions    map[int64]*session
	lastSession int64
	zxid        int64
	ahead       time.Duration // of nowLocked
	conns       []*conn       // in the order they came
	lingering   []*conn       // ended, but behind a blocked link
	clients     map[string]int
	labels      map[string]string // clients' names by local address, for TCP
	links       map[string]link
	linkChanged chan struct{} // closed and replaced when links or paused change
	paused      bool
	closing     bool
	alarms      alarms
	wakeAt      time.Time // when the clock wakes next, zero for never
	reapAt      time.Time // when the reaper runs next, zero for never
	counts      map[countKey]int
	trace       trace
}

// NewServer starts a server for a test and closes it when the test ends. If it cannot
// start, the test fails at once. An active [Rule] that has not fired fails the test at
// its end.
func NewServer(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	s, err := Start(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.Close()
		s.failUnused(tb)
	})
	return s
}

// Start starts a server, which the caller must close. It fails only if the server
// cannot listen on its address.
func Start(opts ...Option) (*Server, error) {
	s := &Server{
		cfg: newConfig(opts), faults: &faults{}, done: make(chan struct{}), kick: make(chan struct{}, 1),
		main: newReplica(), lagging: map[string]*replica{}, cutOff: map[string]*Minority{}, sessions: map[int64]*session{},
		clients: map[string]int{}, labels: map[string]string{}, links: map[string]link{}, linkChanged: make(chan struct{}),
		counts: map[countKey]int{},
	}
	s.trace.limit = s.cfg.traceLimit
	// As in a real server, session ids begin with the time so that none is used twice.
	// The top byte is the server's number.
	s.lastSession = 1<<56 | (time.Now().UnixMilli()&0xffffffffff)<<16
	if err := s.listen(); err != nil {
		return nil, err
	}
	if s.cfg.wait != nil {
		s.stepper = newStepper(s.cfg.seed, s.cfg.wait, s.done)
		s.wg.Go(s.stepper.run)
	}
	s.wg.Go(s.runClock)
	return s, nil
}

func (s *Server) listen() (err error) {
	if s.cfg.network != nil {
		s.addr, err = s.cfg.network.listen(s, s.cfg.addr)
		return err
	}
	addr := s.cfg.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	if s.listener, err = net.Listen("tcp", addr); err != nil {
		return fmt.Errorf("zktest: %w", err)
	}
	s.addr = s.listener.Addr().String()
	s.wg.Go(s.acceptTCP)
	return nil
}

// Addr returns the server's address, as host:port.
func (s *Server) Addr() string {
	s.mustBeMade()
	return s.addr
}

// mustBeMade says what is wrong with the zero Server, before a method panics with less.
func (s *Server) mustBeMade() {
	if s == nil || s.done == nil {
		panic("zktest: a Server is made by NewServer or Start")
	}
}

// Close stops the server. All connections and all state are gone, and all goroutines of
// the server have ended when it returns. It may be called again.
func (s *Server) Close() {
	s.closer.Do(func() {
		if s.listener != nil {
			_ = s.listener.Close()
		} else {
			s.cfg.network.unlisten(s.addr)
		}
		s.mu.Lock()
		s.closing = true
		close(s.done)
		s.links = map[string]link{}
		s.paused = false
		s.changedLocked()
		for len(s.conns) > 0 {
			s.conns[0].detachLocked()
		}
		s.closeLingeringLocked()
		s.mu.Unlock()
	})
	s.wg.Wait()
}

// Dial returns a client's dial function, as for Dial of framework.Config. client is the
// client's name, by which faults find it. On a [Network] the function reaches all
// servers of the network. Over TCP only this server knows the name.
func (s *Server) Dial(client string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	s.mustBeMade()
	if s.cfg.network != nil {
		return func(ctx context.Context, _, addr string) (net.Conn, error) {
			return s.cfg.network.dial(ctx, client, addr)
		}
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if err := s.reach(ctx, client); err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Err: err}
		}
		var d net.Dialer
		nc, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.labels[nc.LocalAddr().String()] = client
		s.mu.Unlock()
		return nc, nil
	}
}

// acceptTCP is the goroutine that accepts connections. It ends when Close closes the
// listener.
func (s *Server) acceptTCP() {
	for {
		nc, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of file descriptors, or the connection is closed already
			select {
			case <-time.After(10 * time.Millisecond):
				continue
			case <-s.done:
				return
			}
		}
		if !s.accept(nc, "") {
			_ = nc.Close()
		}
	}
}

// accept starts to serve a connection. It returns false if the server is closing.
func (s *Server) accept(nc net.Conn, client string) bool {
	remote := nc.RemoteAddr().String()
	host, _, _ := net.SplitHostPort(remote)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	c := &conn{
		server: s, nc: nc, client: client, address: host, out: newOutQueue(), done: make(chan struct{}),
		replica: s.main, auth: initialAuth(host),
	}
	if client == "" {
		c.client = remote
	} else {
		s.nameLocked(c, client)
	}
	s.conns = append(s.conns, c)
	s.wg.Add(2)
	go c.read()
	go c.write()
	return true
}

// name finds the name of the client of a TCP connection, when the first bytes have
// come.
func (s *Server) name(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	remote := c.nc.RemoteAddr().String()
	label, ok := s.labels[remote]
	if s.cfg.network != nil {
		return
	}
	if !ok {
		label = remote
	}
	delete(s.labels, remote)
	s.nameLocked(c, label)
	if s.linkLocked(label).refused {
		c.detachLocked()
	}
}

func (s *Server) nameLocked(c *conn, client string) {
	c.client = client
	if m := s.cutOff[client]; m != nil {
		c.minority, c.replica = m, m.replica
	} else if r := s.lagging[client]; r != nil {
		c.replica = r
	}
}

// reach waits while the link from a client is blocked, and then returns whether the
// client can connect.
func (s *Server) reach(ctx context.Context, client string) error {
	for {
		s.mu.Lock()
		l, changed, closing := s.linkLocked(client), s.linkChanged, s.closing
		s.mu.Unlock()
		switch {
		case closing || l.refused:
			return syscall.ECONNREFUSED
		case !l.blocked():
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.done:
		}
	}
}
