//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A waiter is a job "run --json" in virtual time that waits for testLock.
type waiter struct {
	*job
	t    *testing.T
	done chan error

	mu    sync.Mutex
	out   bytes.Buffer // what was reported
	asked []string     // requests about the queue that have ended: operation and name of the node
}

// startWaiter starts one, named b.
func startWaiter(t *testing.T, w *conformance.World, flags ...string) *waiter {
	t.Helper()
	j, f := virtual(t, w, "b", append(flags, "--json")...)
	p := &waiter{job: j, t: t, done: make(chan error, 1)}
	j.report = newReporter(p, testLock, true, false)
	t.Cleanup(j.report.close)
	j.cfg.Observers = append(j.cfg.Observers, framework.Observer{RequestEnded: func(_ context.Context, r framework.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked = append(p.asked, fmt.Sprintf("%s %s %t", r.Op, r.Path, r.Err == nil))
	}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); p.done <- j.await(ctx, f.begin()) }()
	t.Cleanup(func() { cancel(); <-ended; j.disconnect() }) // if the test fails
	return p
}

// Write keeps what the reporter writes: in virtual time, nothing else orders that after
// what a test has read before.
func (p *waiter) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(text)
}

// said returns the events so far that are about the wait.
func (p *waiter) said() (all []event) {
	synctest.Wait()
	p.mu.Lock()
	reported := p.out.String()
	p.mu.Unlock()
	for line := range strings.Lines(reported) {
		checkEvent(p.t, []byte(line))
		var e event
		require.NoError(p.t, json.Unmarshal([]byte(line), &e))
		if slices.Contains([]string{"waiting", "closed", "acquired"}, e.Event) {
			all = append(all, e)
		}
	}
	return all
}

// requests returns those that have ended since the last call.
func (p *waiter) requests() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, p.asked = p.asked, nil
	return all
}

// end waits until it holds, and releases.
func (p *waiter) end() {
	p.t.Helper()
	require.NoError(p.t, <-p.done)
	p.giveBack()
	p.disconnect()
}

// acquireAs acquires testLock as another client, or joins the queue.
func acquireAs(t *testing.T, w *conformance.World, name string) (*lease.Lease, func()) {
	t.Helper()
	lock, err := mutex.New(w.Client(name), testLock, mutex.WithHolder(name))
	require.NoError(t, err)
	ctx, leave := context.WithCancel(t.Context())
	got := make(chan *lease.Lease, 1)
	go func() {
		l, _ := lock.Acquire(ctx, lease.Forever)
		got <- l
	}()
	w.Settle()
	select {
	case l := <-got:
		return l, leave
	default:
		return nil, leave
	}
}

// The position is that in the queue, and is reported again when it has changed, at most
// every 10 s. Who comes later is not ahead.
func TestProgressFollowsTheQueue(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held, _ := acquireAs(t, w, "first")
		_, leave := acquireAs(t, w, "second")
		p := startWaiter(t, w)
		w.After(firstLook + time.Millisecond)
		_, third := acquireAs(t, w, "third")
		defer third()
		require.Len(t, p.said(), 1)
		waiting := p.said()[0]
		require.Equal(t, "waiting", waiting.Event)
		require.Equal(t, 2, waiting.Ahead)
		require.Equal(t, "first", waiting.Holder.Who)
		require.InDelta(t, firstLook.Seconds(), waiting.Waited, 0.01)

		w.After(5 * time.Minute)
		require.Len(t, p.said(), 1, "nothing has changed")
		leave()
		w.After(2 * longestLook)
		require.Len(t, p.said(), 2)
		require.Equal(t, 1, p.said()[1].Ahead)
		require.Greater(t, p.said()[1].Waited, 300.0)
		require.NoError(t, held.Release())
		p.end()
		w.After(5 * time.Minute)
		require.Equal(t, "acquired", p.said()[2].Event)
		require.Len(t, p.said(), 3, "nothing is reported behind that")
	})
}

// What is free costs no look, and is not reported as a wait.
func TestNoProgressOfWhatIsFree(t *testing.T) {
	var asked [2][]string
	for i, flags := range [][]string{{"--quiet"}, nil} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			p := startWaiter(t, w, flags...)
			p.end()
			w.After(time.Minute)
			require.Len(t, p.said(), 1)
			asked[i] = p.requests()
		})
	}
	require.Len(t, asked[1], len(asked[0]))
}

// A look may see the job's own node before the job itself knows of it.
func TestALookKnowsTheNodesOfItsSession(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		p := startWaiter(t, w)
		require.NoError(t, <-p.done)
		look := &glance{job: p.job}
		ahead, err := look.ahead(t.Context(), p.recipe.queues()[0])
		require.NoError(t, err)
		require.Equal(t, 1, look.listed)
		require.Empty(t, ahead)
		p.giveBack()
		p.disconnect()
	})
}

// However long the queue is, a look lists it once, and reads the data of the head only.
func TestALookReadsTheHeadOnly(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held, _ := acquireAs(t, w, "first")
		crowd := w.Client("crowd")
		for range 200 {
			_, err := crowd.CreateProtected(t.Context(), testLock+"/lock-", nil, framework.EphemeralSequential)
			require.NoError(t, err)
		}
		p := startWaiter(t, w)
		w.After(firstLook / 2)
		p.requests()
		w.After(firstLook)
		require.Equal(t, 201, p.said()[0].Ahead)
		asked := p.requests()
		head := path.Base(held.Path())
		require.Equal(t, []string{"children " + testLock + " true", "get " + testLock + "/" + head + " true"}, asked)
		w.After(time.Hour)
		looks := slices.DeleteFunc(p.requests(), func(r string) bool { return r != asked[1] })
		require.InDelta(t, 60, len(looks), 15)
		require.NoError(t, held.Release())
		require.NoError(t, crowd.Close())
		p.end()
	})
}

// The lock is granted while a look is under way: the grant does not wait for it, and
// nothing is reported afterwards.
func TestGrantDuringALook(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held, _ := acquireAs(t, w, "first")
		p := startWaiter(t, w)
		w.After(firstLook / 2)
		w.Server.On(zktest.OpGetData, held.Path()).Client("b").DropReply()
		w.After(firstLook)
		require.Empty(t, p.said(), "the look is under way")
		began := time.Now()
		require.NoError(t, held.Release())
		require.NoError(t, <-p.done)
		require.Less(t, time.Since(began), listLimit/2)
		w.After(time.Minute)
		require.Len(t, p.said(), 1)
		require.Equal(t, "acquired", p.said()[0].Event)
		p.giveBack()
		p.disconnect()
	})
}

// A semaphore in either layout: holders and waiting clients are ahead, and a holder may
// have several permits.
func TestProgressOfASemaphore(t *testing.T) {
	for name, layout := range map[string][]semaphore.Option{"Curator's": nil, "a single queue": {semaphore.WithSingleQueue(), semaphore.WithLockDelay(time.Second)}} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				permits, err := semaphore.New(w.Client("a"), testLock, 3, append(layout, semaphore.WithHolder("a"))...)
				require.NoError(t, err)
				held, err := permits.Weight(3).Acquire(t.Context(), 0)
				require.NoError(t, err)
				flags := []string{"--permits", "3"}
				if layout != nil {
					flags = append(flags, "--lock-delay", "1s")
				}
				p := startWaiter(t, w, flags...)
				w.After(firstLook)
				require.Len(t, p.said(), 1)
				require.Equal(t, "waiting", p.said()[0].Event)
				require.Equal(t, "a", p.said()[0].Holder.Who)
				require.NoError(t, held.Release())
				p.end()
			})
		})
	}
}

// Without a connection nothing is asked. In the next session the job is at the end.
func TestProgressOverTheLossOfASession(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held, _ := acquireAs(t, w, "first")
		p := startWaiter(t, w)
		w.After(time.Second)
		acquireAs(t, w, "behind")
		require.Equal(t, 1, p.said()[0].Ahead)
		w.Server.RefuseConnections("b", true)
		w.Server.DropConnections("b")
		p.requests()
		w.After(2 * longestLook)
		for _, r := range p.requests() {
			require.NotContains(t, r, "children", "it has ended without an answer")
		}
		w.Server.RefuseConnections("b", false)
		w.After(2 * longestLook)
		said := p.said()
		require.Equal(t, "waiting", said[len(said)-1].Event)
		require.Equal(t, 2, said[len(said)-1].Ahead)
		require.NoError(t, held.Release())
		w.Named("behind").Close()
		p.end()
	})
}

// A lock-delay that keeps it closed is said in place of a holder.
func TestProgressOfALockThatIsClosed(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		lock, err := mutex.New(w.Client("a"), testLock, mutex.WithHolder("a"), mutex.WithLockDelay(time.Minute))
		require.NoError(t, err)
		_, err = lock.Acquire(t.Context(), 0)
		require.NoError(t, err)
		p := startWaiter(t, w, "--lock-delay", "1m")
		w.After(time.Second)
		w.Expire(w.Named("a"))
		w.After(30 * time.Second)
		require.Equal(t, []string{"waiting", "closed"}, []string{p.said()[0].Event, p.said()[1].Event})
		closed := p.said()[1]
		require.Equal(t, "a", closed.Holder.Who)
		require.Zero(t, closed.Ahead)
		p.end()
		require.Len(t, p.said(), 3)
	})
}

// Who may not read gets no report, and does not ask for it again.
func TestProgressWithoutPermission(t *testing.T) {
	for name, test := range map[string]struct {
		op   zktest.Op
		at   func(held *lease.Lease) string
		nth  int
		says string
	}{
		"to list": {zktest.OpGetChildren2, func(*lease.Lease) string { return testLock }, 2, ""},
		"to read": {zktest.OpGetData, func(l *lease.Lease) string { return l.Path() }, 2, "node "},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				held, _ := acquireAs(t, w, "first")
				w.Server.On(test.op, test.at(held)).Client("b").Nth(test.nth).Fail(zktest.NoAuth)
				p := startWaiter(t, w)
				w.After(time.Hour)
				if test.says == "" {
					require.Empty(t, p.said())
				} else {
					require.Nil(t, p.said()[0].Holder)
					require.Equal(t, 1, p.said()[0].Ahead)
				}
				require.NoError(t, held.Release())
				p.end()
			})
		})
	}
}

// A wait that is cancelled ends at once, whatever a look waits for.
func TestCancellationDuringALook(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held, _ := acquireAs(t, w, "first")
		j, f := virtual(t, w, "b")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- j.await(ctx, f.begin()) }()
		w.After(firstLook / 2)
		w.Server.Stall("b", true)
		w.After(firstLook)
		began := time.Now()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		require.Less(t, time.Since(began), listLimit)
		w.Server.Stall("b", false)
		require.NoError(t, held.Release())
		j.disconnect()
	})
}

// All who wait in one queue have no more names listed than the limit, and do not look
// at the same moments.
func TestPausesBetweenLooks(t *testing.T) {
	p := &progress{}
	different := map[time.Duration]bool{}
	for i := range 100 {
		pause := p.nextPause()
		require.GreaterOrEqual(t, pause, shortestLook)
		require.LessOrEqual(t, pause, longestLook*5/4)
		different[pause] = true
		if i > 10 {
			require.GreaterOrEqual(t, pause, longestLook)
		}
	}
	require.Greater(t, len(different), 90)
	for _, n := range []int{1, 1000, 3000, 100_000} {
		p.listed = n
		require.LessOrEqual(t, float64(n)*float64(n)/p.nextPause().Seconds(), float64(namesPerSecond)+1)
	}
}
