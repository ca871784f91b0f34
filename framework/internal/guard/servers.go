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
	pace       *retry.Schedule
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
	return &Servers{cfg: cfg, names: names, resolver: net.DefaultResolver, pace: cfg.Reconnect.Start(), known: map[string][]string{}}
}

// next waits until an attempt is due and returns the address to try. It fails only when
// ctx ends.
func (b *Servers) next(ctx context.Context) (target, error) {
	for {
		if err := retry.Sleep(ctx, b.delay()); err != nil {
			return target{}, err
		}
		t, ok := b.pop()
		if !ok {
			round := b.lookUp(ctx)
			if err := ctx.Err(); err != nil {
				return target{}, err
			}
			b.mu.Lock()
			b.round = round
			b.mu.Unlock()
			t, ok = b.pop()
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
func (b *Servers) delay() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.attachedAt.IsZero() && time.Since(b.attachedAt) >= stable {
		b.tried = 0
		b.pace = b.cfg.Reconnect.Start()
		b.attachedAt = time.Time{}
	}
	b.tried++
	switch {
	case b.tried == 1 && b.left != "":
		return firstPause
	case b.tried <= max(len(b.names), len(b.round)):
		return 0
	}
	d, _ := b.pace.Next() // retry.None makes no sense here: a client tries for as long as it is open
	return max(d, time.Millisecond)
}

func (b *Servers) pop() (target, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.round) == 0 {
		return target{}, false
	}
	t := b.round[0]
	b.round = b.round[1:]
	return t, true
}

// lookUp returns all addresses in random order, each name's first one before any name's
// second.
func (b *Servers) lookUp(ctx context.Context) []target {
	var turns [2][]target // the names' first addresses, and the others
	for _, name := range b.names {
		for i, addr := range b.addresses(ctx, name) {
			turn := min(i, 1)
			turns[turn] = append(turns[turn], target{name, addr})
		}
	}
	for _, turn := range turns {
		rand.Shuffle(len(turn), func(i, j int) { turn[i], turn[j] = turn[j], turn[i] })
	}
	return b.leftLast(slices.Concat(turns[0], turns[1]))
}

// leftLast moves the address that failed last to the end, so that a server that has
// gone silent is not the first to be tried instead of itself.
func (b *Servers) leftLast(round []target) []target {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.IndexFunc(round, func(t target) bool { return t.String() == b.left }); i >= 0 {
		return slices.Concat(round[:i], round[i+1:], round[i:i+1])
	}
	return round
}

// addresses looks a name up, in random order, and falls back on what it found before if
// that fails.
func (b *Servers) addresses(ctx context.Context, name string) []string {
	host, port, _ := net.SplitHostPort(name)
	if b.cfg.Dial != nil || net.ParseIP(host) != nil {
		return []string{name}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	ips, err := b.resolver.LookupHost(ctx, host)
	if err != nil {
		b.failed(name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.known[name] = nil
		for _, ip := range ips {
			b.known[name] = append(b.known[name], net.JoinHostPort(ip, port))
		}
	}
	all := slices.Clone(b.known[name])
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// lookupLimit bounds the look-up of one name.
const lookupLimit = 2 * time.Second

// open opens a connection, encrypted if so configured.
func (b *Servers) open(ctx context.Context, t target) (net.Conn, error) {
	secure, err := b.cfg.TLS(ctx, t.name)
	if err != nil {
		return nil, err
	}
	dial := b.cfg.Dial
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
func (b *Servers) failure(addr string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.IndexFunc(b.failures, func(f Attempt) bool { return f.Addr == addr }); i >= 0 {
		return b.failures[i].Err
	}
	return nil
}

// trying notes that an attempt goes on at an address, for those who lose patience
// before it fails. If one has failed there, why it did says more.
func (b *Servers) trying(addr string) {
	if err := b.failure(addr); err == nil || errors.Is(err, errNoAnswerYet) {
		b.note(addr, errNoAnswerYet)
	}
}

// failed notes the newest failure at an address.
func (b *Servers) failed(addr string, err error) {
	b.note(addr, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = addr
}

func (b *Servers) note(addr string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = append(b.without(addr), Attempt{Addr: addr, At: time.Now(), Err: err})
	b.failures = b.failures[max(0, len(b.failures)-32):]
}

// without returns the failures at other addresses. The caller has the lock.
func (b *Servers) without(addr string) []Attempt {
	return slices.DeleteFunc(b.failures, func(f Attempt) bool { return f.Addr == addr })
}

// attached notes that a server accepted the session. Whether it can be used is not
// known yet: it may refuse the credentials, as it may have before.
func (b *Servers) attached(addr string) {
	if !b.refuses(addr) {
		b.note(addr, errNotReady)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.attachedAt = time.Now()
}

var errNotReady = errors.New("attached, but the session is not ready yet")

// refuses reports whether the newest failure at an address was that of the credentials.
func (b *Servers) refuses(addr string) bool { return errors.Is(b.failure(addr), ErrAuthFailed) }

// ready notes that the session can be used at an address.
func (b *Servers) ready(addr string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = b.without(addr)
}

// Attempts returns the newest attempt at each address that was not successful, in the
// order tried.
func (b *Servers) Attempts() []Attempt {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.failures)
}
