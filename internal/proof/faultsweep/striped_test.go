package faultsweep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// The stripes that are swept.
var (
	aStripe = conformance.Recipe{Name: "aStripe", Slots: 1, New: func(c *framework.Client, path string) lease.Acquirer {
		return must(striped.New(c, path, 3)).For(aKey)
	}}
	// A client takes any of two, each of which is exclusive.
	anyStripe = conformance.Recipe{Name: "anyStripe", Slots: 2, LockOf: stripeOf, New: func(c *framework.Client, path string) lease.Acquirer {
		return anyShare{must(striped.New(c, path, 2))}
	}}
	// Clients acquire a key, and change the number back and forth meanwhile. Tokens of
	// different stripes are not comparable.
	aResizedStripe = conformance.Recipe{Name: "aResizedStripe", Slots: 1, LockOf: stripeOf, New: func(c *framework.Client, path string) lease.Acquirer {
		return &resizing{client: c, path: path, values: map[int]*striped.Locks{}, n: sizes[0], acquire: keyOf}
	}}
	// The same with any stripe: also a call that has moved to another one by then.
	anyResizedStripe = conformance.Recipe{Name: "anyResizedStripe", Slots: sizes[1], LockOf: stripeOf, New: func(c *framework.Client, path string) lease.Acquirer {
		return &resizing{client: c, path: path, values: map[int]*striped.Locks{}, n: sizes[0], acquire: anyOf}
	}}

	allStripes = []conformance.Recipe{aStripe, anyStripe, aResizedStripe, anyResizedStripe}
)

// aKey has a different stripe for each of the sizes.
const aKey = "cart"

// sizes are the numbers of stripes of aResizedStripe.
var sizes = [2]int{2, 3}

// stripeOf returns the path of the stripe that a lease is on.
func stripeOf(l *lease.Lease) string { return l.Path()[:strings.LastIndexByte(l.Path(), '/')] }

// anyShare acquires any stripe.
type anyShare struct{ *striped.Locks }

// errOtherShare means that AcquireAny has returned the number of another share.
var errOtherShare = errors.New("the lease is on another share")

func (a anyShare) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	held, share, err := a.AcquireAny(ctx, timeout)
	if err == nil && stripeOf(held) != a.Path(share) {
		return nil, errors.Join(errOtherShare, held.Release())
	}
	return held, err
}

// keyOf and anyOf are what a resizing acquires.
func keyOf(l *striped.Locks) lease.Acquirer { return l.For(aKey) }
func anyOf(l *striped.Locks) lease.Acquirer { return anyShare{l} }

// errOtherNumber means that a lease is valid although another number is stored.
var errOtherNumber = errors.New("the lease is by a number that is not stored")

// resizing acquires stripes whose number changes. Every other time it changes it first.
// What it knows of a number it keeps, also when that is not stored any more.
type resizing struct {
	client  *framework.Client
	path    string
	acquire func(*striped.Locks) lease.Acquirer

	mu     sync.Mutex
	values map[int]*striped.Locks // by their numbers
	n      int                    // the number that was stored last, as far as is known
	calls  int
}

// present returns the stripes by the number that is stored, as far as is known.
func (r *resizing) present() (*striped.Locks, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.values[r.n] == nil {
		r.values[r.n] = must(striped.New(r.client, r.path, r.n))
	}
	return r.values[r.n], r.n
}

// other returns the other one of the sizes.
func other(n int) int { return sizes[0] + sizes[1] - n }

// become records the number that is stored, and its stripes if they are known.
func (r *resizing) become(n int, l *striped.Locks) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n = n
	if l != nil {
		r.values[n] = l
	}
}

func (r *resizing) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	r.mu.Lock()
	r.calls++
	resizes := r.calls%2 == 1
	r.mu.Unlock()
	if resizes {
		if err := r.resize(ctx); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	for {
		l, n := r.present()
		left := timeout
		if timeout > 0 && timeout != lease.Forever {
			left = max(timeout-time.Since(start), 1)
		}
		held, err := r.acquire(l).Acquire(ctx, left)
		switch {
		case err == nil:
			if err = r.verify(ctx, held, n); err == nil && held.Err() == nil {
				return held, nil
			}
			released := held.Release() // a lease that is lost meanwhile was granted to nobody
			if err != nil || ctx.Err() != nil || released != nil && !errors.Is(released, lease.ErrLost) {
				return nil, errors.Join(err, context.Cause(ctx), released)
			}
		case !errors.Is(err, striped.ErrSizeMismatch):
			return nil, err
		default:
			r.become(other(n), nil)
		}
	}
}

// verify fails if another number is stored than the one by which a lease is valid.
func (r *resizing) verify(ctx context.Context, held *lease.Lease, n int) error {
	data, _, err := r.client.Get(ctx, r.path)
	if err == nil && string(data) != fmt.Sprintf("%d stripes", n) && held.Err() == nil {
		return errOtherNumber
	}
	return nil
}

// resize changes the number, and need not succeed.
func (r *resizing) resize(ctx context.Context) error {
	l, n := r.present()
	resized, err := l.Resize(ctx, other(n), 311*time.Millisecond)
	switch {
	case err == nil:
		r.become(other(n), resized)
	case errors.Is(err, striped.ErrSizeMismatch):
		r.become(other(n), nil)
	case errors.Is(err, lease.ErrTimeout), errors.Is(err, lease.ErrLost), errors.Is(err, framework.ErrUnknownOutcome):
	default:
		return err
	}
	return nil
}

// TestStripesUnderRandomFaults runs random plans as TestLeanFaults does for a mutex.
func TestStripesUnderRandomFaults(t *testing.T) {
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_SCHEDULES", 400/extent.Slowdown())
	for _, recipe := range allStripes {
		t.Run(recipe.Name, func(t *testing.T) {
			lost, failed := 0, 0
			for seed := first; seed < first+runs && failed < 3; seed++ {
				p := RandomLean(recipe, uint64(seed))
				report := p.Run(t)
				lost += report.Lost
				if len(report.Broken) > 0 {
					failed++
					p, report = shrink(t, p, report)
					fail(t, p, report)
				}
			}
			require.Positive(t, lost, "no fault hit a holder")
		})
	}
}
