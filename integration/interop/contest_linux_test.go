package interop

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/faultplan"
)

const (
	contenders     = 3 // in each process
	contestSession = 2 * time.Second
	// margin is how much longer than a session timeout a contender may wait: a process
	// has to start, and the machine is busy. Go's multi-locks begin again after limits
	// of 1 s, 1.5 s, 2.25 s and so on, and pauses. Eight in a row take about 50 s; one
	// in each of the two or three queues is to be expected, besides those of others
	// that are ahead there.
	margin        = time.Minute
	semaphoreSize = 4
	semaphoreMost = 3
	// enough is a span for all kinds of faults, though the last may come later.
	enough = 30 * time.Second
	// reaping is short, so that it also happens during the contest, and so that only
	// non-empty nodes are left at the end.
	reaping = 2 * time.Second
)

// A contest is between a Go and a Java process, for one recipe.
type contest struct {
	recipe, server, path string
	rule                 rule
	kinds                []string // of grants that both sides must have
	seed                 uint64
	history              *history

	// Used by one goroutine.
	now      map[string]*contender // by side
	started  map[string]int        // processes, by side
	everyone []*contender
	counts   map[string]int // of faults
	began    time.Time
	events   []string
	slowest  time.Duration // of the waits for all to go on after a fault
	err      error
}

// Go and Java, three contenders each, contend for each of the recipes for a minute.
// Meanwhile processes are killed and started again, and Go's are paused beyond the end
// of their sessions. No holds conflict, no contender waits for ever, and nothing is
// left.
//
// ZKRECIPES_CONTEST sets another time, ZKRECIPES_SEED the seed of an earlier run. That
// repeats the faults, as far as time allows, but not what the processes do.
func TestGoAndJavaUnderKills(t *testing.T) {
	t.Parallel()
	span, seed := faultplan.Contest(t, usualSpan())
	addr := ensemble.New(t, ensemble.Options{TickTime: tick, NoSync: true, ReapInterval: reaping}).Servers()[0]
	_, err := compile()
	require.NoError(t, err)
	contests := []*contest{
		{recipe: "mutex", rule: alone, kinds: []string{"mutex"}},
		{recipe: "rwlock", rule: sharedByReaders, kinds: []string{"read", "write", "read after write"}},
		{recipe: "semaphore", rule: permits(semaphoreSize), kinds: []string{"semaphore", "semaphore of 2"}},
		{recipe: "leader", rule: alone, kinds: []string{"leader"}},
		{recipe: "multilock", rule: alone, kinds: []string{"mutex", "multi-lock of 2", "multi-lock of 3"}},
	}
	each := func(do func(*contest) error) {
		var group sync.WaitGroup
		for _, c := range contests {
			group.Go(func() { c.err = errors.Join(c.err, do(c)) })
		}
		group.Wait()
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer each((*contest).ended)
	defer cancel()
	each(func(c *contest) error { return c.run(ctx, addr, seed, span) })
	if !slices.ContainsFunc(contests, func(c *contest) bool { return c.err != nil }) {
		t.Run("left", func(t *testing.T) { requireReaped(t, addr) }) // while Go's clients are still connected
		each(func(c *contest) error { return c.leave(ctx, goSide) })
	}
	hits := map[string]int{}
	for _, c := range contests {
		t.Run(c.recipe, func(t *testing.T) {
			counts := c.tell(t)
			for what, n := range counts {
				hits[what] += n
			}
			c.require(t, counts, span)
		})
	}
	if span >= enough {
		for _, what := range []string{"go killed while holding", "java killed while holding", "go notified of a loss"} {
			assert.NotZero(t, hits[what], "%s: no fault has done that", what)
		}
	}
}

// usualSpan is a minute, but a few seconds in short tests.
func usualSpan() time.Duration {
	if testing.Short() {
		return 5 * time.Second
	}
	return time.Minute
}

// run contends until Java's process has ended and Go's is idle.
func (c *contest) run(ctx context.Context, server string, seed uint64, span time.Duration) (err error) {
	defer func() {
		if err != nil {
			nodes, dumpErr := ensemble.Dump(ctx, server)
			c.log("failed: %v; sessions and their nodes: %v %v", err, nodes, dumpErr)
		}
	}()
	c.server, c.path = server, "/contest/"+c.recipe
	own := fnv.New64a() // else all recipes would have the same faults at the same times
	_, _ = own.Write([]byte(c.recipe))
	c.seed = seed ^ own.Sum64()
	c.history = newHistory()
	c.now, c.started, c.counts = map[string]*contender{}, map[string]int{}, map[string]int{}
	c.began = time.Now()
	for _, side := range sides {
		if err := c.start(ctx, side); err != nil {
			return err
		}
	}
	if err := c.goOn(ctx, sides...); err != nil {
		return err
	}
	if err := c.storm(ctx, span); err != nil {
		return err
	}
	c.log("no more faults")
	if err := c.goOn(ctx, sides...); err != nil {
		return err
	}
	var rare []string
	err = c.await(ctx, "some are granted too rarely", func(h *history) bool {
		rare = c.rare(h.counts(), span)
		return len(rare) == 0
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.Join(rare, ", "))
	}
	if err := c.leave(ctx, javaSide); err != nil {
		return err
	}
	return c.stop(ctx, goSide)
}

// stop stops the contenders of the Go process, and leaves its clients connected.
func (c *contest) stop(ctx context.Context, side string) error {
	p := c.now[side]
	if _, err := io.WriteString(p.input, "stop"); err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	return c.await(ctx, p.name+" does not stop", func(h *history) bool { return h.idle[p.name] })
}

// leave ends a process by its standard input, and waits for its end.
func (c *contest) leave(ctx context.Context, side string) error {
	p := c.now[side]
	if p == nil {
		return nil
	}
	p.leaves.Store(true)
	_ = p.input.Close() // it is closed already if the process has ended
	ctx, cancel := context.WithTimeout(ctx, contestSession+margin)
	defer cancel()
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("%s does not end: %w", p.name, context.Cause(ctx))
	}
}

// ended waits for the end of all processes, whose context has ended.
func (c *contest) ended() error {
	for _, p := range c.everyone {
		<-p.done
	}
	return nil
}

// await waits for something that must happen within the bound.
func (c *contest) await(ctx context.Context, what string, so func(*history) bool) error {
	ctx, cancel := context.WithTimeout(ctx, contestSession+margin)
	defer cancel()
	start := time.Now()
	err := c.history.await(ctx, what, so)
	c.slowest = max(c.slowest, time.Since(start))
	return err
}

// log logs an event, by the shared clock and since the start.
func (c *contest) log(format string, arguments ...any) {
	now, _ := monotonic()
	c.events = append(c.events, fmt.Sprintf("%v %8v  ", time.Duration(now), time.Since(c.began).Round(time.Millisecond))+
		fmt.Sprintf(format, arguments...))
}
