package interop

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/faultplan"
)

const (
	contenders     = 3 // in each process
	contestSession = 2 * time.Second
	// margin is how much longer than a session timeout a contender may wait: a process
	// has to start, and the machine is busy.
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

// require checks the result of a contest.
func (c *contest) require(t *testing.T, counts map[string]int, span time.Duration) {
	t.Helper()
	found := breaches(c.history.all(), c.rule)
	if len(found) > 0 {
		t.Errorf("%d conflicts, such as\n%s", len(found), strings.Join(found[:min(len(found), 10)], "\n"))
	}
	require.NoError(t, c.err)
	assert.Empty(t, c.rare(counts, span), "granted too rarely")
	if span >= enough {
		assert.Len(t, c.counts, len(kinds), "all kinds of faults")
	}
}

// rare lists the kinds that were granted too rarely.
func (c *contest) rare(counts map[string]int, span time.Duration) (all []string) {
	atLeast := func(n int, what string) {
		if counts[what] < n {
			all = append(all, fmt.Sprintf("%s %d times", what, counts[what]))
		}
	}
	for _, side := range sides {
		atLeast(int(span.Seconds())+1, side)
		for _, kind := range c.kinds {
			atLeast(int(span.Seconds())/10, side+" "+kind)
		}
	}
	return all
}

// tell prints what happened, and returns the counts of it.
func (c *contest) tell(t *testing.T) (counts map[string]int) {
	t.Helper()
	t.Logf("seed %d\n%s", c.seed, strings.Join(c.events, "\n"))
	all := c.history.all()
	counts = map[string]int{}
	waited := map[string]time.Duration{}
	for _, s := range all {
		side, kind := s.kind()
		counts[side]++
		counts[kind]++
		if s.Lost {
			counts[side+" notified of a loss"]++
		}
		if s.Killed {
			counts[side+" killed while holding"]++
		}
		waited[side] = max(waited[side], time.Duration(s.From-s.Asked))
	}
	maps.Copy(counts, c.history.misses)
	maps.Copy(counts, c.counts)
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%6d %s\n", counts[what], what)
	}
	t.Logf("%d grants, longest waits %v, slowest to go on %v\n%s", len(all), waited, c.slowest.Round(time.Millisecond), b.String())
	return counts
}

// requireReaped waits until nothing is left of the contests: the sessions of killed
// processes expire, and then the server removes the containers. It removes neither
// nodes of sessions that live nor nodes that are not containers.
func requireReaped(t *testing.T, addr string) {
	t.Helper()
	observer := connect(t, addr)
	ctx := within(t, limit)
	for {
		found, _, watch, err := observer.ExistsWatch(ctx, "/contest")
		require.NoError(t, err)
		if !found {
			break
		}
		select {
		case <-watch.Events():
		case <-ctx.Done():
			require.Fail(t, "something is left", "%v", children(t, observer, "/contest"))
		}
	}
	require.NoError(t, observer.Close())
	requireNone(t, addr)
}

// children lists all nodes below a node, and that node.
func children(t *testing.T, client *framework.Client, path string) []string {
	t.Helper()
	all := []string{path}
	names, _, err := client.Children(within(t, limit), path)
	require.NoError(t, err)
	for _, name := range names {
		all = append(all, children(t, client, path+"/"+name)...)
	}
	return all
}
