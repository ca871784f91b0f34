package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Workers of several clients acquire locks within each other in any order, so that they
// run into deadlocks. While they do, and all answers take a random time, the cycles
// that are found for certain are true: of those who wait in one, none is granted unless
// someone has given up, in it, or, if there are permits in it, beside it. And when
// nobody gets on any more, a cycle is found.
func TestCyclesOfRandomWorkers(t *testing.T) {
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_SCHEDULES", 100/extent.Slowdown())
	for seed := first; seed < first+runs; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) { newCrew(t, w, uint64(seed)).run() })
		})
	}
}

// A crew are the workers of one world.
type crew struct {
	t       *testing.T
	w       *conformance.World
	patient bool // nobody gives up by itself

	mu       sync.Mutex // guards what follows
	random   *rand.Rand
	workers  []*worker
	reported []report
	grants   int
	gaveUp   int // attempts that have failed
	gaveUpAt time.Time
	wrong    []string
}

// A worker acquires some locks again and again.
type worker struct {
	*crew
	client *framework.Client
	who    string
	locks  []lease.Acquirer

	// crew.mu guards these.
	attempts []attempt
	cancel   context.CancelCauseFunc // of the attempt
	done     bool
}

// An attempt is one call of Acquire.
type attempt struct {
	began time.Time
	ends  time.Time // when it gives up
	ended bool
}

// A report is a cycle that was found for certain: the attempts of those who wait.
type report struct {
	text   string
	waits  map[*worker]int
	gaveUp int  // how many attempts had failed by then
	unsure bool // one of them just before: its node, and what it releases, may be listed still
}

func newCrew(t *testing.T, w *conformance.World, seed uint64) *crew {
	t.Helper()
	c := &crew{t: t, w: w, patient: seed%2 == 0, random: rand.New(rand.NewPCG(seed, 15))}
	for _, name := range []string{"a", "b", "c"} {
		client := w.Client(name)
		for i := range 2 {
			c.workers = append(c.workers, c.newWorker(client, fmt.Sprint(name, i)))
		}
	}
	return c
}

func (c *crew) newWorker(client *framework.Client, who string) *worker {
	c.t.Helper()
	k := &worker{crew: c, client: client, who: who}
	var mutexes []lease.Acquirer
	for i := range 3 {
		mutexes = append(mutexes, mutexAt(c.t, client, fmt.Sprint("/locks/m", i), who))
	}
	rw := rwAt(c.t, client, "/locks/deeper/rw", who)
	single, permits := c.semaphores(client, who)
	both, err := multilock.New(mutexes[:2])
	require.NoError(c.t, err)
	k.locks = append(mutexes, rw.Read(), rw.Write(), single, single.Weight(2), permits, both) //nolint:gocritic // a new list
	return k
}

// semaphores returns those in each layout.
func (c *crew) semaphores(client *framework.Client, who string) (single, permits *semaphore.Semaphore) {
	c.t.Helper()
	return permitsAt(c.t, client, "/locks/single", who, 3, semaphores["single queue"]), permitsAt(c.t, client, "/locks/permits", who, 2, nil)
}

// below returns a random number from 0 to n-1.
func (c *crew) below(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

func (c *crew) upTo(d time.Duration) time.Duration { return time.Duration(c.below(int(d) + 1)) }

// run lets all work, until they have done what they had to do.
func (c *crew) run() {
	watcher := c.w.Client("watcher")
	single, permits := c.semaphores(watcher, "watcher")
	for _, s := range []*semaphore.Semaphore{single, permits} { // so that sizes are stored before anyone waits, and stay
		require.NoError(c.t, c.w.Acquire(s).Release())
	}
	for _, path := range []string{"/locks/single", "/locks/permits"} {
		_, err := watcher.Create(c.t.Context(), path+"/keep", nil, framework.Persistent)
		require.NoError(c.t, err)
	}
	c.w.Server.SetFaults(func(call zktest.Call) zktest.Action {
		if call.Phase == zktest.PhaseAfterApply && c.below(4) == 0 {
			return zktest.Delay(c.upTo(40 * time.Millisecond))
		}
		return zktest.Pass
	})
	var working sync.WaitGroup
	ctx, cancel := context.WithCancel(c.t.Context())
	defer func() { // if this fails, too
		cancel()
		working.Wait()
	}()
	for _, k := range c.workers {
		working.Go(func() { k.work(ctx) })
	}
	for still := 0; !c.allDone(); still++ {
		before := c.granted()
		c.w.After(time.Second/2 + c.upTo(time.Second))
		c.look(watcher)
		if still > 8 {
			c.w.After(2 * time.Minute)
		}
		if c.granted() != before {
			still = 0
		} else if still > 8 && !c.allDone() { // nobody gets on
			c.endOne(c.look(watcher))
		}
	}
	working.Wait()
	c.w.Server.SetFaults(nil)
	c.w.Settle()
	require.Equal(c.t, 0, cycles(c.t, watcher, "/").Locks)
	require.Empty(c.t, c.wrong)
}

func (c *crew) granted() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grants
}

func (c *crew) allDone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(c.workers, func(k *worker) bool { return !k.done })
}

// look records the cycles that are certain.
func (c *crew) look(watcher *framework.Client) *inspect.CycleSurvey {
	found := cycles(c.t, watcher, "/locks")
	texts := linksOf(found)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, cycle := range found.Cycles {
		r := report{fmt.Sprint(texts[i], " at ", time.Now().Format(time.StampMilli)), map[*worker]int{}, c.gaveUp, time.Since(c.gaveUpAt) < time.Second/4}
		for _, l := range cycle.Links {
			k := c.workers[slices.IndexFunc(c.workers, func(k *worker) bool { return k.who == l.Waiting.Holder.Who })]
			last := k.attempts[len(k.attempts)-1]
			if last.ended || last.began.After(l.Waiting.Enqueued.Add(time.Millisecond)) {
				r.waits = nil // that was over when it was reported
				break
			}
			r.waits[k] = len(k.attempts) - 1
		}
		if cycle.Certain && r.waits != nil {
			c.reported = append(c.reported, r)
		}
	}
	return found
}

// endOne has one give up who is in a cycle. There has to be one.
func (c *crew) endOne(found *inspect.CycleSurvey) {
	c.t.Helper()
	certain := slices.IndexFunc(found.Cycles, func(cycle inspect.Cycle) bool { return cycle.Certain })
	require.GreaterOrEqual(c.t, certain, 0, "nobody gets on, and no cycle is certain: %v: %v", linksOf(found), c.state())
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.reported[len(c.reported)-1].waits {
		k.attempts[len(k.attempts)-1].ends = time.Now()
		k.cancel(errGiveUp)
		return
	}
}

var errGiveUp = errors.New("told to give up")

// work acquires up to four locks within each other, some times.
func (k *worker) work(ctx context.Context) {
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.done = true
	}()
	for range 6 {
		k.nest(ctx, 1+k.below(4))
	}
}

// nest acquires one lock, and others within it.
func (k *worker) nest(ctx context.Context, depth int) {
	held, err := k.acquire(ctx, k.locks[k.below(len(k.locks))])
	if err != nil {
		return
	}
	time.Sleep(k.upTo(time.Second))
	if depth > 1 {
		k.nest(held.Context(), depth-1)
	}
	_ = held.Release()
}

func (k *worker) acquire(ctx context.Context, lock lease.Acquirer) (*lease.Lease, error) {
	timeout := 24 * time.Hour
	if !k.patient {
		timeout = k.upTo(time.Minute)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	k.mu.Lock()
	k.attempts, k.cancel = append(k.attempts, attempt{began: time.Now(), ends: time.Now().Add(timeout)}), cancel
	number := len(k.attempts) - 1
	k.mu.Unlock()
	held, err := lock.Acquire(ctx, timeout)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.attempts[number].ended = true
	if err != nil {
		k.gaveUp++
		k.gaveUpAt = time.Now()
		return nil, err
	}
	k.grants++
	k.judge(number)
	return held, err
}

// judge is called when an attempt was granted. The caller has the lock.
func (k *worker) judge(number int) {
	for _, r := range k.reported {
		if n, waits := r.waits[k]; !waits || n != number {
			continue
		}
		if r.gaveUp == k.gaveUp && !r.unsure && !k.someoneGivesUp() {
			k.wrong = append(k.wrong, fmt.Sprintf("%s is granted what it waits for in: %s", k.who, r.text))
		}
	}
}

// someoneGivesUp reports whether the time of an attempt is up: then its node may be
// deleted already. The caller has the lock.
func (c *crew) someoneGivesUp() bool {
	return slices.ContainsFunc(c.workers, func(k *worker) bool {
		last := k.attempts[len(k.attempts)-1]
		return !last.ended && !last.ends.After(time.Now())
	})
}

// state says what each worker does, for a failure.
func (c *crew) state() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.workers {
		last := k.attempts[len(k.attempts)-1]
		all = append(all, fmt.Sprintf("%s: attempt %d, began %v, ended %t, done %t", k.who, len(k.attempts), last.began.Format(time.StampMilli), last.ended, k.done))
	}
	return all
}
