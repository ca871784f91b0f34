package integration

import (
	"context"
	"errors"
	"math/rand/v2"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/faultplan"
)

// Clients with many goroutines each acquire stripes, by keys and any of them, while
// their number changes between two and three, connections break, stall and are slow,
// and servers are killed, paused and restarted. No two leases on a key, nor on a
// stripe, are valid at once, the tokens of each grow, and in the end each goroutine is
// granted what it asks for.
func TestStripesUnderFaults(t *testing.T) {
	span, seed := faultplan.Contest(t, 8*time.Second)
	servers := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true})
	s := &storm{servers: servers, rng: rand.New(rand.NewPCG(seed, 2))}
	ctx, cancel := context.WithTimeout(context.Background(), span+2*limit)
	defer cancel()
	over := make(chan struct{})
	all := &stripeReferees{referees: map[string]*referee{}}
	var group sync.WaitGroup
	for i := range 3 {
		client := s.connect(t)
		stripes := &stripesOfClient{client: client}
		stripes.use(t, 2)
		for n := range 6 {
			w := &stripeWorker{t, i, stripes, all, rand.New(rand.NewPCG(seed, uint64(1000*i+n)))}
			group.Go(func() { w.work(ctx, over) })
		}
		if i > 0 {
			group.Go(func() { stripes.resize(ctx, over, all) })
		}
	}
	s.rage(t, span)
	close(over)
	group.Wait()
	require.NoError(t, ctx.Err(), "a goroutine was never granted a stripe")
	all.end(t)
	t.Logf("faults: %v", s.counts)
	for _, stripe := range []string{"/stripe-0000", "/stripe-0001", "/stripe-0002"} {
		requireEmpty(t, servers.Servers()[0], teamPath+stripe, limit)
	}
}

// The stripes that a client uses, by the number that it last knew.
type stripesOfClient struct {
	client *framework.Client
	now    atomic.Pointer[numbered]
}

type numbered struct {
	*striped.Locks
	n int
}

// use makes the stripes of a number.
func (s *stripesOfClient) use(tb testing.TB, n int) {
	tb.Helper()
	locks, err := striped.New(s.client, teamPath, n)
	assert.NoError(tb, err)
	s.now.Store(&numbered{locks, n})
}

// resize changes the number again and again, until there are no more faults.
func (s *stripesOfClient) resize(ctx context.Context, over <-chan struct{}, all *stripeReferees) {
	for !ended(over) && ctx.Err() == nil {
		<-time.After(200 * time.Millisecond)
		from := s.now.Load()
		if _, err := from.Resize(ctx, 5-from.n, 2*time.Second); err == nil {
			all.resized.Add(1)
		}
	}
}

// stripeReferees are those of each key and of each stripe.
type stripeReferees struct {
	mu       sync.Mutex
	referees map[string]*referee
	resized  atomic.Int64
	refused  atomic.Int64
}

func (r *stripeReferees) of(what string) *referee {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.referees[what] == nil {
		r.referees[what] = newReferee()
	}
	return r.referees[what]
}

func (r *stripeReferees) end(t *testing.T) {
	t.Helper()
	grants := 0
	for what, of := range r.referees {
		assert.Empty(t, of.faults, what)
		grants += of.grants
	}
	assert.Positive(t, r.resized.Load())
	assert.Positive(t, r.refused.Load(), "no call with the number before")
	t.Logf("%d grants, of keys and of stripes; %d changes of the number, %d calls refused for that", grants, r.resized.Load(), r.refused.Load())
}

// A stripeWorker is one goroutine.
type stripeWorker struct {
	t        *testing.T
	team     int // its client's number
	stripes  *stripesOfClient
	referees *stripeReferees
	rng      *rand.Rand
}

// work acquires stripes until there are no more faults, and then two more.
func (w *stripeWorker) work(ctx context.Context, over <-chan struct{}) {
	for left := 2; left > 0 && ctx.Err() == nil; {
		calm := ended(over)
		wait := lease.Forever
		if !calm && w.rng.IntN(5) == 0 {
			wait = time.Duration(w.rng.IntN(300)) * time.Millisecond
		}
		key, stripes := []string{"", "a", "b", "cart"}[w.rng.IntN(4)], w.stripes.now.Load()
		held, err := w.acquire(ctx, stripes, key, wait)
		switch {
		case err == nil:
			w.hold(held, key)
			if calm {
				left--
			}
		case errors.Is(err, striped.ErrSizeMismatch):
			w.referees.refused.Add(1)
			w.stripes.use(w.t, 5-stripes.n)
		case errors.Is(err, lease.ErrTimeout) && wait != lease.Forever, ctx.Err() != nil:
		default:
			w.t.Errorf("acquire: %v", err)
			return
		}
	}
}

// acquire acquires the stripe of a key, or any if that is "".
func (w *stripeWorker) acquire(ctx context.Context, stripes *numbered, key string, wait time.Duration) (*lease.Lease, error) {
	if key != "" {
		return stripes.For(key).Acquire(ctx, wait)
	}
	held, share, err := stripes.AcquireAny(ctx, wait)
	if err == nil && path.Dir(held.Path()) != stripes.Path(share) {
		w.t.Errorf("share %d is of %s", share, held.Path())
	}
	return held, err
}

// hold uses a lease for a moment and releases it.
func (w *stripeWorker) hold(held *lease.Lease, key string) {
	of := []*referee{w.referees.of(path.Dir(held.Path()))}
	if key != "" {
		of = append(of, w.referees.of("key "+key))
	}
	for _, r := range of {
		r.grant(w.team, held)
	}
	<-time.After(time.Duration(w.rng.IntN(3000)) * time.Microsecond)
	for _, r := range of {
		r.release(w.team, held)
	}
	if w.rng.IntN(3) == 0 {
		_ = held.ReleaseAsync()
	} else {
		_ = held.Release()
	}
	for _, r := range of {
		r.released(w.team)
	}
}
