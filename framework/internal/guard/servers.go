package guard

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// Servers say which server to try next and when. It outlives sessions: the pace of
// attempts does not start afresh with each. Names are looked up at the beginning of
// every round, so servers may change their addresses.
type Servers struct {
	cfg      Config
	names    []string // host:port as configured
	resolver *net.Resolver

	callbacks sync.Map // channels of functions that have not come back

	mu         sync.Mutex
	round      []target
	tried      int // since the last attachment that lasted
	attachedAt time.Time
	backoff    *retry.Schedule
	failures   []Attempt           // newest per address
	left       string              // the address that failed last
	known      map[string][]string // addresses of each name when it was last looked up
}

// An Attempt is the newest one to attach to a server that has not succeeded, or not
// yet.
type Attempt struct {
	Addr string    // what was tried
	At   time.Time // when
	Err  error     // why it has not succeeded
}

// A target is one address to dial and the name it stands for.
type target struct {
	name string // host:port as configured; its host is the TLS server name
	addr string // what is dialed
}

// String returns the name, with the address where that differs.
func (t target) String() string {
	if t.addr == t.name {
		return t.name
	}
	return t.name + " (" + t.addr + ")"
}

// stable is how long an attachment must have lasted for the next attempt to be made
// without delay. It keeps servers that accept and drop from being hammered.
const stable = time.Second

// NewServers returns the list of servers of a client, given as host:port.
func NewServers(cfg Config, names []string) *Servers {
	return &Servers{cfg: cfg, names: names, resolver: net.DefaultResolver, backoff: cfg.Reconnect.Start(), known: map[string][]string{}}
}

// next waits until an attempt is due and returns the address to try. It fails only when
// ctx ends.
func (s *Servers) next(ctx context.Context) (target, error) {
	for {
		if err := retry.Sleep(ctx, s.delay()); err != nil {
			return target{}, err
		}
		t, ok := s.pop()
		if !ok {
			round := s.lookUp(ctx)
			if err := ctx.Err(); err != nil {
				return target{}, err
			}
			s.mu.Lock()
			s.round = round
			s.mu.Unlock()
			t, ok = s.pop()
		}
		if ok {
			return t, nil
		}
	}
}

// firstPause comes before the first attempt after a connection that lasted. Whoever
// gives up because that broke, such as a program that ends, has then done so, and the
// server is spared a connection.
const firstPause = time.Millisecond

// delay is nothing, or next to nothing, for the first attempt at each server after a
// connection that lasted, then follows the policy.
func (s *Servers) delay() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.attachedAt.IsZero() && time.Since(s.attachedAt) >= stable {
		s.tried = 0
		s.backoff = s.cfg.Reconnect.Start()
		s.attachedAt = time.Time{}
	}
	s.tried++
	switch {
	case s.tried == 1 && s.left != "":
		return firstPause
	case s.tried <= max(len(s.names), len(s.round)):
		return 0
	}
	d, _ := s.backoff.Next() // retry.None makes no sense here: a client tries for as long as it is open
	return max(d, time.Millisecond)
}

func (s *Servers) pop() (target, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.round) == 0 {
		return target{}, false
	}
	t := s.round[0]
	s.round = s.round[1:]
	return t, true
}

// lookUp returns all addresses in random order, each name's first one before any name's
// second.
func (s *Servers) lookUp(ctx context.Context) []target {
	var byRank [2][]target // the names' first addresses, and the others
	for _, name := range s.names {
		for i, addr := range s.addresses(ctx, name) {
			rank := min(i, 1)
			byRank[rank] = append(byRank[rank], target{name, addr})
		}
	}
	for _, rank := range byRank {
		rand.Shuffle(len(rank), func(i, j int) { rank[i], rank[j] = rank[j], rank[i] })
	}
	return s.leftLast(slices.Concat(byRank[0], byRank[1]))
}

// leftLast moves the address that failed last to the end, so that a server that has
// gone silent is not the first to be tried instead of itself.
func (s *Servers) leftLast(round []target) []target {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(round, func(t target) bool { return t.String() == s.left }); i >= 0 {
		return slices.Concat(round[:i], round[i+1:], round[i:i+1])
	}
	return round
}

// addresses looks a name up, in random order, and falls back on what it found before if
// that fails.
func (s *Servers) addresses(ctx context.Context, name string) []string {
	host, port, _ := net.SplitHostPort(name)
	if s.cfg.Dial != nil || net.ParseIP(host) != nil {
		return []string{name}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	ips, err := s.resolver.LookupHost(ctx, host)
	if err != nil {
		s.failed(name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.known[name] = nil
		for _, ip := range ips {
			s.known[name] = append(s.known[name], net.JoinHostPort(ip, port))
		}
	}
	all := slices.Clone(s.known[name])
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// lookupLimit bounds the look-up of one name.
const lookupLimit = 2 * time.Second

// open opens a connection, encrypted if so configured.
func (s *Servers) open(ctx context.Context, t target) (net.Conn, error) {
	secure, err := s.cfg.TLS(ctx, t.name)
	if err != nil {
		return nil, err
	}
	dial := s.cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	conn, err := dial(ctx, "tcp", t.addr)
	if err != nil || secure == nil {
		return conn, err
	}
	return encrypt(ctx, conn, secure)
}

var errNoAnswerYet = errors.New("no answer yet")

// failure returns why the newest attempt at an address has failed, nil if it has not.
func (s *Servers) failure(addr string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.failures, func(f Attempt) bool { return f.Addr == addr }); i >= 0 {
		return s.failures[i].Err
	}
	return nil
}

// trying notes that an attempt goes on at an address, for those who lose patience
// before it fails. If one has failed there, why it did says more.
func (s *Servers) trying(addr string) {
	if err := s.failure(addr); err == nil || errors.Is(err, errNoAnswerYet) {
		s.record(addr, errNoAnswerYet)
	}
}

// failed notes the newest failure at an address.
func (s *Servers) failed(addr string, err error) {
	s.record(addr, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = addr
}

func (s *Servers) record(addr string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.without(addr), Attempt{Addr: addr, At: time.Now(), Err: err})
	s.failures = s.failures[max(0, len(s.failures)-32):]
}

// without returns the failures at other addresses. The caller has the lock.
func (s *Servers) without(addr string) []Attempt {
	return slices.DeleteFunc(s.failures, func(f Attempt) bool { return f.Addr == addr })
}

// attached notes that a server accepted the session. Whether it can be used is not
// known yet: it may refuse the credentials, as it may have before.
func (s *Servers) attached(addr string) {
	if !s.refuses(addr) {
		s.record(addr, errNotReady)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attachedAt = time.Now()
}

var errNotReady = errors.New("attached, but the session is not ready yet")

// refuses reports whether the newest failure at an address was that of the credentials.
func (s *Servers) refuses(addr string) bool { return errors.Is(s.failure(addr), ErrAuthFailed) }

// ready notes that the session can be used at an address.
func (s *Servers) ready(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = s.without(addr)
}

// Attempts returns the newest attempt at each address that was not successful, in the
// order tried.
func (s *Servers) Attempts() []Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.failures)
}
