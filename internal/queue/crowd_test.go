package queue_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Several waiters in each of one to three clients, all or some of which stand behind
// the front of a crowd, share one path, with each kind of queue in turn, and a mutex
// with a client that does what Curator does. Connections break, answers are late or
// dropped and waits end; in a third of the runs an operator deletes nodes instead. At
// no time more of them hold than may, and when the faults are over nobody waits longer
// than those ahead hold. ZKRECIPES_SEED is the first seed, ZKRECIPES_CROWDS the number
// of runs.
func TestCrowdsUnderFaults(t *testing.T) {
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_CROWDS", 60/extent.Slowdown())
	grants, early := 0, 0
	for seed := first; seed < first+runs && !t.Failed(); seed++ {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < time.Minute {
			t.Logf("no time for more than %d", seed-first)
			break
		}
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			c := newCrowd(t, w, seed)
			c.run()
			grants, early = grants+len(c.holds), early+c.early
		})
	}
	t.Logf("%d grants, %d of them while the node of the holder before still stood", grants, early)
	require.True(t, early > 0 || runs < len(kinds), "no slot was handed over before the delete")
}

const (
	contenders = 12                          // in all sessions
	faultsEnd  = 30 * time.Second            // since the start
	quietFrom  = faultsEnd + 40*time.Second  // all sessions that were lost have ended
	holdsAtAll = 20 * 6 * time.Millisecond   // the longest hold
	sizeIsNew  = 4 * time.Second             // for so long, a decision by the size before may be on its way
	stuck      = quietFrom + 600*time.Second // nobody waits as long
)

type crowd struct {
	t        *testing.T
	w        *conformance.World
	seed     int
	kind     kind
	sessions int
	operated bool // nodes are deleted, requests do not fail
	start    time.Time

	mu    sync.Mutex
	rand  *rand.Rand
	quiet bool
	made  map[string]time.Duration // when nodes were, by the path that was asked for
	holds []held
	sizes []size
	early int // grants while the node of the holder before stood
}

// A size is how many may hold from a time on.
type size struct {
	from  time.Duration
	slots int
}

// held is what is known of one hold. All times are since the start.
type held struct {
	who      string
	reading  bool
	weight   int
	from, to time.Duration // to is when the lease was last seen valid
	waited   time.Duration
	node     string
	made     time.Duration // when that was
}

func newCrowd(t *testing.T, w *conformance.World, seed int) *crowd {
	return &crowd{
		t: t, w: w, seed: seed, kind: kinds[seed%len(kinds)], sessions: 1 + seed/len(kinds)%3, operated: seed%3 == 2,
		start: time.Now(), made: map[string]time.Duration{}, rand: rand.New(rand.NewPCG(uint64(seed), 7)), sizes: []size{{0, kinds[seed%len(kinds)].slots}},
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
	if c.kind.resize != nil { // a container would be removed, and the size with it
		_, err := operator.Create(c.t.Context(), path, binary.BigEndian.AppendUint32(nil, uint32(c.kind.slots)), framework.Persistent)
		require.NoError(c.t, err)
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	var group sync.WaitGroup
	front := c.random(3)
	for i := range contenders {
		who := fmt.Sprintf("%c%d", 'a'+i%c.sessions, i/c.sessions)
		client := c.w.Named(who[:1])
		if front > 0 {
			queue.SetFront(client, front)
		}
		acquirers := c.kind.acquirers(c.t, client)
		group.Go(func() { c.work(ctx, who, acquirers) })
	}
	if c.kind.curator && !c.operated {
		java := c.w.Client(curator)
		group.Go(func() { c.contendLikeCurator(ctx, java) })
	}
	c.w.Server.SetFaults(c.disturb)
	for c.now() < faultsEnd {
		pass(c.upTo(1500 * time.Millisecond))
		if c.operated {
			c.operate(operator)
		} else {
			c.strike(string(rune('a' + c.random(c.sessions))))
		}
		if c.kind.resize != nil && c.random(4) == 0 {
			c.resize(operator)
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
	c.keep(handle, held{who: who, reading: c.kind.writers && side > 0, weight: c.kind.weight(side), waited: c.now() - began})
	if c.kind.writers && side == 0 && c.random(2) == 0 && handle.Err() == nil {
		if reading, err := acquirers[1].Acquire(handle.Context(), time.Minute); err == nil {
			_ = handle.Release()
			c.keep(reading, held{who: who, reading: true, weight: 1})
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
	if _, nodes := c.children(); c.kind.curator && len(nodes) > 0 && number(nodes[0]) < number(h.node) {
		c.mu.Lock()
		c.early++
		c.mu.Unlock()
	}
	for range c.random(20) {
		pass(time.Millisecond + c.upTo(5*time.Millisecond))
		if handle.Err() != nil {
			break
		}
		h.to = c.now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if made, ok := c.made[strings.TrimSuffix(h.node, number(h.node))]; ok {
		h.made = made
	} else { // in a group
		h.made = h.from
	}
	c.holds = append(c.holds, h)
}

// check looks for holds at the same time, and for long waits without faults.
func (c *crowd) check() {
	slices.SortFunc(c.holds, func(a, b held) int { return cmp.Compare(a.from, b.from) })
	for i, h := range c.holds {
		var others []held
		taken, since := h.weight, h.from-sizeIsNew
		if h.from < quietFrom { // it may be long until a quorum vouches for what was decided
			since = min(since, h.made)
		}
		for _, other := range c.holds[:i] {
			if c.excludes(other, h) {
				others = append(others, other)
				taken += other.weight
			}
		}
		if taken > c.slotsAt(h.from, since) {
			c.t.Errorf("seed %d: %+v while others hold: %+v", c.seed, h, others)
		}
		if longest := contenders * 2 * holdsAtAll; h.from > quietFrom && h.waited > longest {
			c.t.Errorf("seed %d: without faults %s has waited for %v", c.seed, h.who, h.waited)
		}
	}
}

// excludes reports whether two holds, of which the first began earlier, were at the
// same time and may not have been. A holder whose node is deleted may have no watch
// yet, and finds it out by its first look.
func (c *crowd) excludes(earlier, later held) bool {
	const firstLook = 11 * time.Millisecond
	until := min(earlier.to, later.to)
	switch {
	case earlier.reading && later.reading:
		return false
	case c.operated && until < earlier.made+firstLook:
		return false
	}
	return until > later.from
}

// children returns the directory of the queue and its nodes, in order.
func (c *crowd) children() (dir string, nodes []string) {
	dir = path + c.kind.dir
	nodes = c.w.Server.Children(dir)
	slices.SortFunc(nodes, byNumber)
	return dir, nodes
}

func byNumber(a, b string) int { return cmp.Compare(number(a), number(b)) }

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
