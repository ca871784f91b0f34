package zktest

import "time"

// Defaults of the options, which are those of a ZooKeeper server with the sample
// configuration.
const (
	DefaultTick         = 2 * time.Second
	DefaultReapInterval = time.Minute
	// DefaultTraceLimit is how many events [Server.Trace] remembers.
	DefaultTraceLimit = 20_000
)

// config is what the options set.
type config struct {
	network      *Network
	addr         string
	tick         time.Duration
	minTimeout   time.Duration
	maxTimeout   time.Duration
	reapInterval time.Duration
	unsupported  map[Op]bool
	noTTL        bool
	wrap         bool
	traceLimit   int
	seed         uint64
	settle       func()
	follows      func(earlier, later Sent) bool
}

// Option changes how a server is made. The options of this package are all there are.
type Option interface{ apply(c *config) }

type option func(c *config)

func (o option) apply(c *config) { o(c) }

// WithNetwork makes the server listen on an in-memory network instead of TCP. Sessions,
// expiry and pings then run on virtual time inside a testing/synctest bubble; the
// server, and the Network, must be made inside the bubble.
func WithNetwork(n *Network) Option {
	return option(func(c *config) { c.network = n })
}

// WithAddr sets the TCP address to listen on, "127.0.0.1:0" by default. On a [Network]
// it is the made-up address.
func WithAddr(hostport string) Option {
	return option(func(c *config) { c.addr = hostport })
}

// WithTick sets the tick, [DefaultTick] by default. Session timeouts are bounded by 2
// and 20 ticks unless [WithSessionTimeouts] says otherwise.
func WithTick(d time.Duration) Option {
	return option(func(c *config) { c.tick = d })
}

// WithSessionTimeouts sets the bounds within which a client's wish for a session
// timeout is granted.
func WithSessionTimeouts(shortest, longest time.Duration) Option {
	return option(func(c *config) { c.minTimeout, c.maxTimeout = shortest, longest })
}

// WithReapInterval sets how often empty containers and nodes whose time to live is over
// are looked for, [DefaultReapInterval] by default.
func WithReapInterval(d time.Duration) Option {
	return option(func(c *config) { c.reapInterval = d })
}

// WithUnsupported makes the server play an older one that has never heard of some
// requests: it answers them with [Unimplemented] and then, as a real one does, closes
// the connection.
func WithUnsupported(ops ...Op) Option {
	return option(func(c *config) {
		for _, op := range ops {
			c.unsupported[op] = true
		}
	})
}

// WithoutTTL makes the server refuse nodes with a time to live, which is how a real
// server behaves unless it was started with zookeeper.extendedTypesEnabled. The answer
// is [Unimplemented] and the connection stays.
func WithoutTTL() Option {
	return option(func(c *config) { c.noTTL = true })
}

// WithSequenceWrap makes the numbers of sequential nodes go on at -2147483648 after
// 2147483647, as ZooKeeper's documentation has it. A real 3.8 (tried) stays at
// 2147483647 for ever, and so does the server without this option; only of several
// creates under way at once do the later ones get negative numbers there. See
// [Server.SetSequence].
func WithSequenceWrap() Option {
	return option(func(c *config) { c.wrap = true })
}

// WithTraceLimit sets how many events [Server.Trace] remembers, [DefaultTraceLimit] by
// default; 0 means none.
func WithTraceLimit(n int) Option {
	return option(func(c *config) { c.traceLimit = n })
}

// WithStepper makes the order of everything that happens a function of seed. See the
// package comment. settle must return when every other goroutine of the program waits;
// inside a bubble that is synctest.Wait, which then nobody else may call: tests use
// [Server.Settle] instead. settle is called on a goroutine of the server.
func WithStepper(seed uint64, settle func()) Option {
	return option(func(c *config) { c.seed, c.settle = seed, settle })
}

// newConfig applies options to the defaults.
func newConfig(opts []Option) config {
	c := config{
		addr: "", tick: DefaultTick, reapInterval: DefaultReapInterval, unsupported: map[Op]bool{},
		traceLimit: DefaultTraceLimit,
	}
	for _, o := range opts {
		o.apply(&c)
	}
	if c.minTimeout == 0 {
		c.minTimeout = 2 * c.tick
	}
	if c.maxTimeout == 0 {
		c.maxTimeout = 20 * c.tick
	}
	return c
}
