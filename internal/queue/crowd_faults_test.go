package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A kind is one kind of queue.
type kind struct {
	slots     int
	dir       string // of the queue, below the path
	writers   bool   // the first acquirer is that of writers, the second that of readers
	weighted  bool   // the leases of each acquirer take one slot more than those of the one before
	curator   bool   // a client that does what Curator does contends as well
	acquirers func(t *testing.T, c *framework.Client) []lease.Acquirer
	resize    func(t *testing.T, c *framework.Client, slots int) error // nil if the number of slots does not change
}

var kinds = []kind{
	{slots: 1, curator: true, acquirers: func(t *testing.T, c *framework.Client) []lease.Acquirer { return []lease.Acquirer{mutexOf(t, c)} }},
	{slots: 1, writers: true, acquirers: func(t *testing.T, c *framework.Client) []lease.Acquirer {
		l, err := rwlock.New(c, path)
		require.NoError(t, err)
		return []lease.Acquirer{l.Write(), l.Read()}
	}},
	{slots: 2, acquirers: func(t *testing.T, c *framework.Client) []lease.Acquirer {
		return []lease.Acquirer{semaphoreOf(t, c, 2, semaphore.WithSingleQueue())}
	}},
	{slots: 4, weighted: true, acquirers: func(t *testing.T, c *framework.Client) []lease.Acquirer {
		s := semaphoreOf(t, c, 0, semaphore.WithSingleQueue())
		return []lease.Acquirer{s.Weight(1), s.Weight(2), s.Weight(3)}
	}, resize: func(t *testing.T, c *framework.Client, slots int) error {
		return semaphoreOf(t, c, 0, semaphore.WithSingleQueue()).Resize(t.Context(), slots)
	}},
	{slots: 2, dir: "/locks", acquirers: func(t *testing.T, c *framework.Client) []lease.Acquirer {
		return []lease.Acquirer{semaphoreOf(t, c, 2)}
	}},
}

func semaphoreOf(t *testing.T, c *framework.Client, permits int, opts ...semaphore.Option) *semaphore.Semaphore {
	t.Helper()
	s, err := semaphore.New(c, path, permits, opts...)
	require.NoError(t, err)
	return s
}

// weight is how many slots the leases of an acquirer take.
func (k *kind) weight(acquirer int) int {
	if k.weighted {
		return acquirer + 1
	}
	return 1
}

// resize changes the size, to no less than the heaviest waiter needs.
func (c *crowd) resize(operator *framework.Client) {
	slots := 3 + c.random(3)
	c.mu.Lock()
	c.sizes = append(c.sizes, size{c.now(), slots}) // it may already count
	c.mu.Unlock()
	require.NoError(c.t, c.kind.resize(c.t, operator, slots))
}

// slotsAt returns how many may hold at some time, by decisions that were not made
// before some other time.
func (c *crowd) slotsAt(at, since time.Duration) (slots int) {
	for i, s := range c.sizes {
		over := i+1 < len(c.sizes) && c.sizes[i+1].from < since
		if s.from <= at && !over {
			slots = max(slots, s.slots)
		}
	}
	return slots
}

// disturb delays requests and answers, and now and then breaks the connection or drops
// the answer.
func (c *crowd) disturb(call zktest.Call) zktest.Action {
	c.mu.Lock()
	if call.Op == zktest.OpCreate && call.Phase == zktest.PhaseAfterApply {
		c.made[call.Path] = c.now()
	}
	quiet := c.quiet || c.operated || call.Client == "operator" || call.Client == curator || call.Client == ""
	c.mu.Unlock()
	if quiet {
		return zktest.Pass
	}
	switch x := c.random(1000); {
	case x < 300:
		return zktest.Delay(time.Microsecond + c.upTo(3*time.Millisecond))
	case x < 303:
		return zktest.CutConnection
	case x < 306:
		if call.Phase != zktest.PhaseAfterApply {
			return zktest.Mute // no connection drops a request, or an event, and goes on behind it
		}
		return zktest.DropReply
	case x < 307:
		return zktest.Delay(c.upTo(3 * time.Second))
	}
	return zktest.Pass
}

// strike breaks the connection of a client, or keeps it from the server for a while,
// now and then for longer than its session lasts.
func (c *crowd) strike(client string) {
	keep := func(from func(client string, on bool), d time.Duration) {
		from(client, true)
		pass(c.upTo(d))
		from(client, false)
	}
	switch c.random(18) {
	case 0, 1, 2:
		c.w.Server.DropConnections(client)
	case 3, 4, 5:
		keep(c.w.Server.Partition, 2500*time.Millisecond)
	case 6:
		keep(c.w.Server.Partition, 9*time.Second)
	case 7, 8, 9:
		keep(c.w.Server.Stall, 1500*time.Millisecond)
	}
}
