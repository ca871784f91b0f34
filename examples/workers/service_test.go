package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A client is one that asks the service.
type client struct {
	t   *testing.T
	s   *service
	all sync.WaitGroup
}

func newClient(t *testing.T, s *service) *client {
	c := &client{t: t, s: s}
	t.Cleanup(c.all.Wait)
	return c
}

// begin has a process take the next job and begin it, and returns the job and what
// comes of it.
func (c *client) begin(ctx context.Context, pid int) (n int, done <-chan error) {
	w := httptest.NewRecorder()
	require.NoError(c.t, c.s.take(w, pid))
	n, err := strconv.Atoi(strings.TrimSpace(w.Body.String()))
	require.NoError(c.t, err)
	before, ended := c.s.begun(), make(chan error, 1)
	c.all.Go(func() { ended <- c.s.do(ctx, &job{number: n, pid: pid, ended: make(chan struct{})}) })
	c.s.Lock()
	failed := c.s.Failure != nil
	c.s.Unlock()
	require.False(c.t, failed)
	_ = c.s.Await(ctx, func() bool { return c.s.starts > before })
	return n, ended
}

// One more than may run is seen, also when the number has been lowered while they ran.
func TestTooManyAreSeen(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newService(9, 3)
	c := newClient(t, s)
	defer cancel()
	for range 3 {
		c.begin(ctx, 1)
	}
	require.NoError(t, s.Await(ctx, s.full))
	s.Change(func() { s.size = 2 })
	require.True(t, s.end())
	require.NoError(t, s.Await(ctx, s.full), "those who run go on")
	c.begin(ctx, 2)
	require.EqualError(t, s.Await(ctx, func() bool { return false }), "3 jobs run at once, and 2 may")
}

var errLost = errors.New("as if the lease were lost")

// A job is done when it was told to end, and only then: not if its lease was lost, or
// its process killed. Then the process that has it, or another one, can begin it again.
func TestJobsAreDoneAtLeastOnce(t *testing.T) {
	t.Parallel()
	ctx, lose := context.WithCancelCause(t.Context())
	s := newService(2, 2)
	c := newClient(t, s)
	first, done := c.begin(ctx, 1)
	lose(errLost)
	require.ErrorIs(t, <-done, errLost)
	require.Empty(t, s.running)
	require.Equal(t, 1, s.took[first])
	require.ErrorContains(t, s.do(t.Context(), &job{number: first, pid: 2}), "process 2 has not taken job 0")

	_, done = c.begin(t.Context(), 1)
	require.Equal(t, 1, s.busiest())
	s.Change(func() { require.Equal(t, 1, s.lose(1)) })
	require.NoError(t, <-done) // nobody reads that
	require.Len(t, s.queue, 2)
	require.NoError(t, s.take(httptest.NewRecorder(), 1))
	require.Len(t, s.queue, 2, "it was killed")

	for range 2 {
		var n int
		n, done = c.begin(t.Context(), 2)
		require.True(t, s.end())
		require.NoError(t, <-done)
		require.NoError(t, s.do(t.Context(), &job{number: n, pid: 2}), "it is done")
	}
	require.False(t, s.end())
	require.Empty(t, s.queue)
	require.Empty(t, s.took)
	require.Equal(t, 4, s.begun())
}

// More permits that are held than may be are seen, when as many run as may.
func TestTooManyPermitsAreSeen(t *testing.T) {
	t.Parallel()
	client, err := connect(t.Context(), []string{zktest.NewServer(t).Addr()})
	require.NoError(t, err)
	defer client.Close()
	limit, err := semaphore.New(client, root+"/of-test", more)
	require.NoError(t, err)
	held, err := limit.Weight(more).Acquire(t.Context(), tooLong)
	require.NoError(t, err)

	s := newService(2*more, more)
	c := newClient(t, s)
	var running []<-chan error
	for range more {
		_, done := c.begin(t.Context(), 1)
		running = append(running, done)
	}
	// Each worker whose job is done asks for another one, and has returned nothing.
	var asking sync.WaitGroup
	defer asking.Wait()
	for _, done := range running[:more-fewer] {
		asking.Go(func() {
			assert.NoError(t, <-done)
			_ = s.take(httptest.NewRecorder(), 1)
		})
	}
	_, err = lower(t.Context(), s, limit)
	require.EqualError(t, err, "20 permits are held, and a permit was granted while more than 3 were")
	require.NoError(t, held.Release())
	for s.end() {
	}
}
