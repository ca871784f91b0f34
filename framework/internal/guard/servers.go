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

// Servers is the server list of a client: it says which server to try next, and when.
// It outlives sessions, so a new session does not reset the backoff. Names are looked
// up at the beginning of every round, so servers may change their addresses.
type Servers struct {
	cfg      Config
	names    []string // host:port as configured
	resolver *net.Resolver

	callbacks sync.Map // channels of functions that have not returned

	mu         sync.Mutex
	round      []target
	tried      int // attempts since the last stable connection
	attachedAt time.Time
	backoff    *retry.Schedule
	failures   []Attempt           // the newest one per address
	left       string              // the address that failed last
	known      map[string][]string // addresses of each name at its last look-up
}

// An Attempt is an attempt to attach to a server: the newest one at its address, which
// has failed or is still under way.
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

// String returns the name, and the address if that differs.
func (t target) String() string {
	if t.addr == t.name {
		return t.name
	}
	return t.name + " (" + t.addr + ")"
}

// stable is how long a connection must have lasted for the next attempt to be made
// without delay. So servers that accept and close at once are not flooded.
const stable = time.Second

// NewServers returns the server list of a client. names are host:port.
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

// firstPause comes before the first attempt after a stable connection. A program that
// ends because the connection broke has then done so, and the server is spared a new
// one.
const firstPause = time.Millisecond

// delay is zero, or almost, for the first attempt at each server after a stable
// connection. Then it follows the policy.
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

// lookUp returns all addresses in random order, the first address of each name before
// the second address of any name.
func (s *Servers) lookUp(ctx context.Context) []target {
	var byRank [2][]target // first addresses, all others
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

// leftLast moves the address that failed last to the end. After a server has gone
// silent the client tries the others first.
func (s *Servers) leftLast(round []target) []target {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(round, func(t target) bool { return t.String() == s.left }); i >= 0 {
		return slices.Concat(round[:i], round[i+1:], round[i:i+1])
	}
	return round
}

// addresses looks up a name and returns its addresses in random order. If that fails it
// uses the result of the last look-up.
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

// lookupLimit limits the time of one look-up.
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
	if err != nil {
		return nil, explainDial(err)
	}
	if secure == nil {
		return conn, nil
	}
	return encrypt(ctx, conn, secure)
}

var errNoAnswerYet = errors.New("no answer yet")

// failure returns why the newest attempt at an address failed, nil if it has not.
func (s *Servers) failure(addr string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.failures, func(f Attempt) bool { return f.Addr == addr }); i >= 0 {
		return s.failures[i].Err
	}
	return nil
}

// trying records that an attempt at an address is under way, for callers that give up
// before it ends. An earlier failure at that address says more and is kept.
func (s *Servers) trying(addr string) {
	if err := s.failure(addr); err == nil || errors.Is(err, errNoAnswerYet) {
		s.record(addr, errNoAnswerYet)
	}
}

// failed records the newest failure at an address.
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

// attached records that a server accepted the session. Whether the session can be used
// is not known yet: the server may refuse the credentials, as it may have done before.
func (s *Servers) attached(addr string) {
	if !s.refuses(addr) {
		s.record(addr, errNotReady)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attachedAt = time.Now()
}

var errNotReady = errors.New("attached, but the session is not ready yet")

// refuses reports whether the newest failure at an address was that the server refused
// the credentials.
func (s *Servers) refuses(addr string) bool { return errors.Is(s.failure(addr), ErrAuthFailed) }

// ready records that the session can be used at an address.
func (s *Servers) ready(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = s.without(addr)
}

// Attempts returns the newest attempt at each address without success, in the order in
// which they were made.
func (s *Servers) Attempts() []Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.failures)
}
