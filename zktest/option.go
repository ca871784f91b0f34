package zktest

import "time"

// Defaults of the options, as in ZooKeeper's sample configuration.
const (
	DefaultTick         = 2 * time.Second
	DefaultReapInterval = time.Minute
	// DefaultTraceLimit is how many events [Server.Trace] returns at most.
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
	wait         func()
	follows      func(earlier, later Sent) bool
}

// Option is an option of [NewServer] and [Start].
type Option interface{ apply(c *config) }

type option func(c *config)

func (o option) apply(c *config) { o(c) }

// WithNetwork makes the server listen on an in-memory network in place of TCP. In a
// testing/synctest bubble it then runs in virtual time; make the Network and the server
// inside the bubble.
func WithNetwork(n *Network) Option {
	return option(func(c *config) { c.network = n })
}

// WithAddr sets the address to listen on, "127.0.0.1:0" by default. On a [Network] any
// host:port will do, and the default is a made-up one.
func WithAddr(hostport string) Option {
	return option(func(c *config) { c.addr = hostport })
}

// WithTick sets the tick, [DefaultTick] by default. Session timeouts are between 2 and
// 20 ticks, unless [WithSessionTimeouts] is given.
func WithTick(d time.Duration) Option {
	return option(func(c *config) { c.tick = d })
}

// WithSessionTimeouts sets the shortest and the longest session timeout that is
// granted.
func WithSessionTimeouts(shortest, longest time.Duration) Option {
	return option(func(c *config) { c.minTimeout, c.maxTimeout = shortest, longest })
}

// WithReapInterval sets how often empty containers and nodes whose time to live is over
// are deleted, [DefaultReapInterval] by default.
func WithReapInterval(d time.Duration) Option {
	return option(func(c *config) { c.reapInterval = d })
}

// WithUnsupported makes the server like an older one that does not know some requests.
// It answers them with [Unimplemented] and closes the connection, as a real server
// does.
func WithUnsupported(ops ...Op) Option {
	return option(func(c *config) {
		for _, op := range ops {
			c.unsupported[op] = true
		}
	})
}

// WithoutTTL makes the server refuse nodes with a time to live with [Unimplemented], as
// a real server does without zookeeper.extendedTypesEnabled. The connection stays.
func WithoutTTL() Option {
	return option(func(c *config) { c.noTTL = true })
}

// WithSequenceWrap makes the numbers of sequential nodes go on at -2147483648 after
// 2147483647, as ZooKeeper's documentation says. Without it they stay at 2147483647, as
// with a real 3.8 (tried); there only the later ones of several creates under way at
// once get negative numbers. See [Server.SetSequence].
func WithSequenceWrap() Option {
	return option(func(c *config) { c.wrap = true })
}

// WithTraceLimit sets how many events [Server.Trace] returns at most,
// [DefaultTraceLimit] by default; 0 means none.
func WithTraceLimit(n int) Option {
	return option(func(c *config) { c.traceLimit = n })
}

// WithStepper is for simulation; see the package comment. It makes a seed decide the
// order of all that happens. wait must return when all other goroutines are blocked:
// pass synctest.Wait. No other goroutine may call synctest.Wait then; tests call
// [Server.Settle]. The server calls wait on a goroutine of its own.
func WithStepper(seed uint64, wait func()) Option {
	return option(func(c *config) { c.seed, c.wait = seed, wait })
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
