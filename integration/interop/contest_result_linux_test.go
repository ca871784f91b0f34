package interop

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
)

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
