package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

const (
	ownPaths   = "/locks/own"
	ownWorkers = 32                     // of each client
	atOnce     = 150 * time.Millisecond // between two moments at which all of a client acquire
)

// Beside those that contend for one mutex each client has goroutines with mutexes of
// their own, a quarter of them shared with the other clients. They acquire at the same
// moments, so that their creates and deletes travel in groups.
type crowd struct {
	mu       sync.Mutex
	referees map[string]*referee // by path
	tokens   map[lease.Token]string
	shared   int // leases with the token of another one of their client: made in one group
}

func newCrowd() *crowd {
	return &crowd{referees: map[string]*referee{}, tokens: map[lease.Token]string{}}
}

// worker returns one goroutine of a client.
func (c *crowd) worker(t *testing.T, team, n int, client *framework.Client, seed uint64) *ownWorker {
	t.Helper()
	path := fmt.Sprintf("%s/%d-%d", ownPaths, n, team)
	if n%4 == 0 {
		path = fmt.Sprintf("%s/%d", ownPaths, n)
	}
	if c.referees[path] == nil {
		c.referees[path] = newReferee()
	}
	return &ownWorker{t, team, c, newMutex(t, client, path), c.referees[path], rand.New(rand.NewPCG(seed, uint64(10000+100*team+n)))}
}

// grant records a lease on a path.
func (c *crowd) grant(held *lease.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens[held.Token()] != "" && c.tokens[held.Token()] != held.Path() {
		c.shared++
	}
	c.tokens[held.Token()] = held.Path()
}

// end checks what the referees have found, and that nothing is left.
func (c *crowd) end(t *testing.T, server string) {
	t.Helper()
	grants, lost := 0, 0
	observer := connect(t, server)
	for path, r := range c.referees {
		assert.Empty(t, r.faults, path)
		assert.Positive(t, r.grants, path)
		grants += r.grants
		lost += r.lost
		requireEmptySeenBy(t, observer, path, limit)
	}
	t.Logf("%d grants on %d other paths, %d of them with the token of another one, %d leases lost", grants, len(c.referees), c.shared, lost)
	assert.Positive(t, c.shared, "no creates have travelled together")
}

// An ownWorker is one goroutine with a mutex of its own.
type ownWorker struct {
	t       *testing.T
	team    int // its client's number
	crowd   *crowd
	mutex   lease.Acquirer
	referee *referee
	rng     *rand.Rand
}

// work acquires the mutex until there are no more faults, and then twice more.
func (w *ownWorker) work(ctx context.Context, over <-chan struct{}) {
	for left := 2; left > 0 && ctx.Err() == nil; {
		wait := lease.Forever
		if ended(over) {
			left--
		} else if w.rng.IntN(8) == 0 {
			wait = time.Duration(w.rng.IntN(10)) * time.Millisecond
		}
		if !ended(over) {
			<-time.After(time.Until(time.Now().Truncate(atOnce).Add(atOnce)))
		}
		held, err := w.mutex.Acquire(ctx, wait)
		switch {
		case err == nil:
			w.hold(held)
		case errors.Is(err, lease.ErrTimeout) && wait != lease.Forever, ctx.Err() != nil:
		default:
			w.t.Errorf("acquire: %v", err)
			return
		}
	}
}

// hold holds a lease for a moment and releases it.
func (w *ownWorker) hold(held *lease.Lease) {
	w.referee.grant(w.team, held)
	w.crowd.grant(held)
	if w.rng.IntN(2) == 0 {
		<-time.After(time.Until(time.Now().Truncate(10 * time.Millisecond).Add(10 * time.Millisecond)))
	}
	w.referee.release(w.team, held)
	if w.rng.IntN(3) == 0 {
		_ = held.ReleaseAsync()
	} else {
		_ = held.Release()
	}
	w.referee.released(w.team)
}
