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
	acquirers func(t *testing.T, c *framework.Client) []lease.Acquirer
}

var kinds = []kind{
	{slots: 1, acquirers: func(t *testing.T, c *framework.Client) []lease.Acquirer { return []lease.Acquirer{mutexOf(t, c)} }},
	{slots: 1, writers: true, acquirers: func(t *testing.T, c *framework.Client) []lease.Acquirer {
		l, err := rwlock.New(c, path)
		require.NoError(t, err)
		return []lease.Acquirer{l.Write(), l.Read()}
	}},
	{slots: 2, acquirers: func(t *testing.T, c *framework.Client) []lease.Acquirer {
		return semaphoreOf(t, c, semaphore.WithSingleQueue())
	}},
	{slots: 2, dir: "/locks", acquirers: func(t *testing.T, c *framework.Client) []lease.Acquirer { return semaphoreOf(t, c) }},
}

func semaphoreOf(t *testing.T, c *framework.Client, opts ...semaphore.Option) []lease.Acquirer {
	t.Helper()
	s, err := semaphore.New(c, path, 2, opts...)
	require.NoError(t, err)
	return []lease.Acquirer{s}
}

// disturb delays requests and answers, and now and then breaks the connection or drops
// the answer.
func (c *crowd) disturb(call zktest.Call) zktest.Action {
	c.mu.Lock()
	quiet := c.quiet || c.operated || call.Client == "operator" || call.Client == ""
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
