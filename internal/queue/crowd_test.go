package queue_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Several waiters in each of three sessions share one path, with each kind of queue in
// turn. Connections break, answers are late or dropped and waits end; in a third of the
// runs an operator deletes nodes instead. At no time more of them hold than may, and
// when the faults are over nobody waits longer than those ahead hold. ZKRECIPES_SEED is
// the first seed, ZKRECIPES_CROWDS the number of runs.
func TestCrowdsUnderFaults(t *testing.T) {
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_CROWDS", 48/extent.Slowdown())
	for seed := first; seed < first+runs && !t.Failed(); seed++ {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) { newCrowd(t, w, seed).run() })
	}
}

const (
	sessions   = 3
	perSession = 4
	faultsEnd  = 30 * time.Second            // since the start
	quietFrom  = faultsEnd + 40*time.Second  // all sessions that were lost have ended
	holdsAtAll = 20 * 6 * time.Millisecond   // the longest hold
	stuck      = quietFrom + 600*time.Second // nobody waits as long
)

type crowd struct {
	t        *testing.T
	w        *conformance.World
	seed     int
	kind     kind
	operated bool // nodes are deleted, requests do not fail
	start    time.Time

	mu    sync.Mutex
	rand  *rand.Rand
	quiet bool
	holds []held
}

// held is what is known of one hold. All times are since the start.
type held struct {
	who      string
	reading  bool
	from, to time.Duration // to is when the lease was last seen valid
	waited   time.Duration
	node     string
}

func newCrowd(t *testing.T, w *conformance.World, seed int) *crowd {
	return &crowd{
		t: t, w: w, seed: seed, kind: kinds[seed%len(kinds)], operated: seed%3 == 2,
		start: time.Now(), rand: rand.New(rand.NewPCG(uint64(seed), 7)),
	}
}

func (c *crowd) random(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rand.IntN(n)
}

// upTo returns a random duration.
func (c *crowd) upTo(d time.Duration) time.Duration { return time.Duration(c.random(int(d))) }

func (c *crowd) now() time.Duration { return time.Since(c.start) }

func pass(d time.Duration) { <-time.After(d) }

func (c *crowd) run() {
	operator := c.w.Client("operator")
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	var group sync.WaitGroup
	for i := range sessions * perSession {
		who := fmt.Sprintf("%c%d", 'a'+i%sessions, i/sessions)
		acquirers := c.kind.acquirers(c.t, c.w.Named(who[:1]))
		group.Go(func() { c.work(ctx, who, acquirers) })
	}
	c.w.Server.SetFaults(c.disturb)
	for c.now() < faultsEnd {
		pass(c.upTo(1500 * time.Millisecond))
		if c.operated {
			c.operate(operator)
		} else {
			c.strike(string(rune('a' + c.random(sessions))))
		}
	}
	c.mu.Lock()
	c.quiet = true
	c.mu.Unlock()
	time.AfterFunc(stuck-c.now(), cancel)
	group.Wait()
	require.Less(c.t, c.now(), stuck, "seed %d: stuck", c.seed)
	c.check()
}

// work acquires and releases, until it has done so three times without faults.
func (c *crowd) work(ctx context.Context, who string, acquirers []lease.Acquirer) {
	for c.now() < faultsEnd {
		ctx, cancel := context.WithCancel(ctx)
		limit := lease.Forever
		switch c.random(4) {
		case 0:
			limit = c.upTo(2 * time.Second)
		case 1:
			time.AfterFunc(c.upTo(2*time.Second), cancel)
		}
		if err := c.acquire(ctx, limit, who, acquirers); err != nil && c.random(3) == 0 {
			pass(c.upTo(50 * time.Millisecond))
		}
		cancel()
	}
	pass(quietFrom - c.now())
	for range 3 {
		if err := c.acquire(ctx, lease.Forever, who, acquirers); err != nil {
			c.t.Errorf("seed %d: %s: %v", c.seed, who, err)
		}
	}
}

// acquire acquires, holds, and releases. A writer may become a reader.
func (c *crowd) acquire(ctx context.Context, limit time.Duration, who string, acquirers []lease.Acquirer) error {
	began, side := c.now(), c.random(len(acquirers))
	handle, err := acquirers[side].Acquire(ctx, limit)
	if err != nil {
		return err
	}
	c.keep(handle, held{who: who, reading: side > 0, waited: c.now() - began})
	if c.kind.writers && side == 0 && c.random(2) == 0 && handle.Err() == nil {
		if reading, err := acquirers[1].Acquire(handle.Context(), time.Minute); err == nil {
			_ = handle.Release()
			c.keep(reading, held{who: who, reading: true})
			_ = reading.Release()
		}
	}
	_ = handle.Release()
	return nil
}

// keep holds a lease for a while, and records that.
func (c *crowd) keep(handle *lease.Lease, h held) {
	h.from, h.node = c.now(), handle.Path()
	h.to = h.from
	for range c.random(20) {
		pass(time.Millisecond + c.upTo(5*time.Millisecond))
		if handle.Err() != nil {
			break
		}
		h.to = c.now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds = append(c.holds, h)
}

// check looks for holds at the same time, and for long waits without faults.
func (c *crowd) check() {
	slices.SortFunc(c.holds, func(a, b held) int { return cmp.Compare(a.from, b.from) })
	for i, h := range c.holds {
		var others []held
		for _, other := range c.holds[:i] {
			if c.excludes(other, h) {
				others = append(others, other)
			}
		}
		if len(others) >= c.kind.slots {
			c.t.Errorf("seed %d: %+v while others hold: %+v", c.seed, h, others)
		}
		if longest := sessions * perSession * 2 * holdsAtAll; h.from > quietFrom && h.waited > longest {
			c.t.Errorf("seed %d: without faults %s has waited for %v", c.seed, h.who, h.waited)
		}
	}
}

// excludes reports whether two holds, of which the first began earlier, were at the
// same time and may not have been. A holder whose node is deleted, and that has never
// waited, has no watch yet, and finds it out by its first look.
func (c *crowd) excludes(earlier, later held) bool {
	const firstLook = 11 * time.Millisecond
	together := min(earlier.to, later.to) - later.from
	switch {
	case earlier.reading && later.reading:
		return false
	case c.operated && earlier.waited == 0:
		return together > firstLook
	}
	return together > 0
}

// children returns the directory of the queue and its nodes, in order.
func (c *crowd) children() (dir string, nodes []string) {
	dir = path + c.kind.dir
	nodes = c.w.Server.Children(dir)
	slices.SortFunc(nodes, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return dir, nodes
}

func number(node string) string { return node[max(0, len(node)-10):] }

// operate deletes a node that waits, or two at once, or requests revocation.
func (c *crowd) operate(operator *framework.Client) {
	dir, nodes := c.children()
	if len(nodes) < 2 {
		return
	}
	ctx, a, b := c.t.Context(), dir+"/"+nodes[c.random(len(nodes))], dir+"/"+nodes[1+c.random(len(nodes)-1)]
	switch c.random(3) {
	case 0:
		_ = operator.Delete(ctx, b, framework.AnyVersion)
	case 1:
		_, _ = operator.Multi(ctx, framework.DeleteOp(a, framework.AnyVersion), framework.DeleteOp(b, framework.AnyVersion))
	case 2:
		_, _ = operator.Set(ctx, a, []byte("__REVOKE__"), framework.AnyVersion)
	}
}
