package striped

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/shares"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Forever as the timeout of Acquire leaves the bound of the wait to the context.
const Forever = lease.Forever

// MaxStripes is the greatest number of stripes at one path.
const MaxStripes = znode.MaxStripes

// ErrSizeMismatch means that Locks were made for another number of stripes than the
// path stores. The text says both.
var ErrSizeMismatch = errors.New("the number of stripes differs from the one stored at the path")

// Locks are the stripes at one path. Any number of goroutines may use one value. Make
// it with New: the methods of a nil or zero value fail with
// framework.ErrInvalidArgument, or panic with it if they return no error.
type Locks struct {
	recipe  *acquire.Recipe // that of AcquireAny
	opts    []Option
	stripes []stripe
	agreed  atomic.Bool    // the path stores their number, and no other recipe uses it
	shares  *shares.Shares // the stripes again, for AcquireAny
}

// A stripe is one of the mutexes.
type stripe struct {
	of          *Locks
	shares.Slot // its recipe has no queue: there is more to a grant
}

// New returns the n stripes at a path, 1 to MaxStripes. It sends nothing: the path is
// created, and the number stored or compared, when a stripe is first acquired. The
// children of the path belong to the stripes. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidArgument.
func New(client *framework.Client, path string, n int, opts ...Option) (*Locks, error) {
	o := options{}
	for _, opt := range opts {
		opt(&o)
	}
	at := recipepath.Intent{Client: client, Path: path, Package: "striped", What: "a striped lock", Label: o.who, Terms: o.terms}
	if err := at.Check(); err != nil {
		return nil, err
	}
	if n < 1 || n > MaxStripes {
		return nil, at.Invalid("%d stripes: give 1 to %d", n, MaxStripes)
	}
	self := queue.Self(o.who)
	recipe := func(at string, protected []recipepath.ProtectedNode) *acquire.Recipe {
		return &acquire.Recipe{Client: client, Path: at, Of: path, Terms: o.terms, Kind: lease.KindMutex, Variant: uint16(n), Self: self, ProtectedNodes: protected}
	}
	l := &Locks{recipe: recipe(path, recipepath.StripeNodes(path)), opts: opts, stripes: make([]stripe, n)}
	slots := make([]shares.Slot, n)
	for i := range l.stripes {
		dir := path + "/" + znode.StripeDir(i)
		slots[i] = shares.Slot{Recipe: recipe(dir, recipepath.StripeNodes(path, i)), Queue: locks.Queue(client, dir, znode.Mutex, self, o.terms.LockDelay)}
		l.stripes[i] = stripe{l, slots[i]}
	}
	l.shares = shares.New(path, slots)
	return l, nil
}

// check fails unless New made the value.
func (l *Locks) check() error {
	if l == nil || l.stripes == nil {
		return recipepath.NotMade("striped.Locks")
	}
	return nil
}

// mustBeMade panics unless New made the value.
func (l *Locks) mustBeMade() {
	if err := l.check(); err != nil {
		panic(err)
	}
}

// Index returns the number of a key's stripe, from 0 on.
func (l *Locks) Index(key string) int {
	l.mustBeMade()
	sum := sha256.Sum256([]byte(key))
	return int(binary.BigEndian.Uint64(sum[:]) % uint64(len(l.stripes))) //nolint:gosec // at most MaxStripes
}

// Path returns the path of a stripe, which is that of a mutex. Stripes are numbered
// from 0 on; it panics for others, as Stripe does.
func (l *Locks) Path(stripe int) string {
	l.mustBeMade()
	return l.stripes[stripe].Recipe.Path
}

// Stripe returns the mutex of a stripe, such as a share that AcquireAny has named.
func (l *Locks) Stripe(i int) lease.Acquirer {
	l.mustBeMade()
	return &l.stripes[i]
}

// For returns the mutex of a key. Its Acquire is that of all recipes, see
// lease.Acquirer, and also fails with ErrSizeMismatch. A timeout of 0 or less acquires
// the stripe only if it is free now, and costs one read if it is not. All keys of one
// stripe have the same mutex.
func (l *Locks) For(key string) lease.Acquirer { return l.Stripe(l.Index(key)) }

// ForAll returns the mutexes of some keys, each mutex once, for multilock.New.
func (l *Locks) ForAll(keys ...string) (mutexes []lease.Acquirer) {
	l.mustBeMade()
	for _, key := range keys {
		if mutex := l.For(key); !slices.Contains(mutexes, mutex) {
			mutexes = append(mutexes, mutex)
		}
	}
	return mutexes
}

// Acquire waits up to timeout for the stripe.
func (s *stripe) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if s == nil || s.of == nil {
		return nil, recipepath.NotMade("striped.Locks")
	}
	return s.Recipe.Acquire(ctx, timeout, func(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
		if err := s.of.begin(ctx, t); err != nil {
			return nil, err
		}
		return acquire.InQueue(s.Queue)(ctx, t)
	})
}
