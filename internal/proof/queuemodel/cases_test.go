package queuemodel

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
)

// A searched is a scenario all of whose states are searched. Nothing happens that must
// not. Its number of states is known, so that a model is noticed that can do less.
type searched struct {
	states int
	name   string
	scenario
}

// cases are those of the short form: first those in which a condition is left out.
func cases() []searched {
	waits, behind := []string{"F0 joins", "W0 joins"}, []string{"W0 joins"}
	return []searched{
		{1360, "one waits, and its node may be deleted", scenario{
			locals: 1, foreign: 1, deletes: 1}},
		{20474, "one waits, and nodes may be changed and deleted", scenario{
			locals: 1, foreign: 1, deletes: 1, changes: 1, lagging: true, late: true}},
		{18191, "one waits, over a break", scenario{
			locals: 1, foreign: 1, deletes: 1, breaks: 1, lagging: true}},
		{3826, "a writer waits for one that becomes a reader", scenario{
			locals: 1, foreign: 1, kinds: "WWWWMR", downgrades: 1, lagging: true, late: true}},
		{10876, "two writers wait for one that becomes a reader", scenario{
			locals: 2, foreign: 1, kinds: "WWWWMR", downgrades: 1, lagging: true, late: true, first: waits}},
		{67359, "two in turn, and a node may be deleted", scenario{
			locals: 2, deletes: 1}},
		{438363, "two in turn, and a lease may be lost", scenario{
			locals: 2, deletes: 1, losses: 1, late: true}},
		{825484, "two in turn, over a break", scenario{
			locals: 2, deletes: 1, breaks: 1, lagging: true}},
		{39612, "one joins behind one that holds, over a break", scenario{
			locals: 2, deletes: 1, breaks: 1, lagging: true, first: behind}},
		{165034, "names are used again", scenario{
			locals: 2, foreign: 2, recurring: true, reaps: 1, deletes: 1, first: waits}},

		{33205, "watches are not set again", scenario{
			locals: 1, foreign: 1, deletes: 1, breaks: 1, unkept: 1, lagging: true}},
		{43580, "one waits for two", scenario{
			locals: 1, foreign: 2, deletes: 1, lagging: true}},
		{19599, "listings fail", scenario{
			locals: 2, failures: 2}},
		{176056, "a listing fails, and the connection breaks", scenario{
			locals: 2, breaks: 1, failures: 1}},
		{93440, "names are used again, one waits for two", scenario{
			locals: 1, foreign: 2, recurring: true, reaps: 1, deletes: 1, late: true}},
		{158682, "two wait for one", scenario{
			locals: 2, foreign: 1}},
		{114551, "two wait for one, over a break", scenario{
			locals: 2, foreign: 1, deletes: 1, breaks: 1, lagging: true, first: waits}},
		{87681, "one gives up", scenario{
			locals: 2, foreign: 1, deletes: 1, leaves: 1, lagging: true, first: waits}},
		{10030, "three in turn", scenario{
			locals: 3, deletes: 1, first: []string{"W0 joins", "W1 joins"}}},
		{56292, "two join behind one that holds", scenario{
			locals: 3, first: behind}},
		{52314, "permits", scenario{
			locals: 2, foreign: 1, kinds: "SSSSSS", permits: 2, deletes: 1, first: waits}},
		{133812, "two wait behind two", scenario{
			locals: 2, foreign: 2, deletes: 1, lagging: true, first: waits}},
		{190754, "two wait for one, over a break, and answers are late", scenario{
			locals: 2, foreign: 1, deletes: 1, breaks: 1, lagging: true, late: true, first: waits}},
		{6670, "listings in place of reads", scenario{
			locals: 2, foreign: 1, deletes: 1, lagging: true, noReads: true, first: waits}},
	}
}

// longCases are more of them for the long form.
func longCases() []searched {
	waits := []string{"F0 joins", "W0 joins"}
	return []searched{
		{450815, "one waits, over two breaks", scenario{
			locals: 1, foreign: 1, deletes: 1, changes: 1, breaks: 2, lagging: true, late: true}},
		{528310, "one waits, and all may happen", scenario{
			locals: 1, foreign: 1, deletes: 2, changes: 1, breaks: 1, unkept: 1, losses: 1, lagging: true, late: true}},
		{3970707, "names are used again, over a break", scenario{
			locals: 1, foreign: 2, recurring: true, reaps: 1, deletes: 2, breaks: 1, lagging: true, late: true}},
		{2384247, "two in turn, over a break, and answers are late", scenario{
			locals: 2, deletes: 1, breaks: 1, lagging: true, late: true}},
		{2414834, "two in turn, over two breaks", scenario{
			locals: 2, deletes: 1, breaks: 2, lagging: true}},
		{1338011, "two in turn, a break, and a listing that fails", scenario{
			locals: 2, deletes: 1, breaks: 1, failures: 1}},
		{1381030, "two in turn, and watches are not set again", scenario{
			locals: 2, deletes: 1, breaks: 1, unkept: 1}},
		{1876154, "two in turn, a break, and one gives up", scenario{
			locals: 2, deletes: 1, breaks: 1, leaves: 1}},
		{3452303, "two wait for one that may be deleted", scenario{
			locals: 2, foreign: 1, deletes: 1, lagging: true}},
		{5013988, "two join behind a foreign holder, over a break", scenario{
			locals: 2, foreign: 1, deletes: 1, breaks: 1, first: []string{"F0 joins"}}},
		{1775064, "two join behind a foreign holder, and answers are late", scenario{
			locals: 2, foreign: 1, deletes: 1, lagging: true, late: true, first: []string{"F0 joins"}}},
		{403526, "two wait for one, over two breaks", scenario{
			locals: 2, foreign: 1, deletes: 1, breaks: 2, lagging: true, first: waits}},
		{742093, "three wait for one, over a break", scenario{
			locals: 3, foreign: 1, deletes: 1, breaks: 1, lagging: true, first: append(waits, "W1 joins")}},
		{296480, "names are used again, and answers are late", scenario{
			locals: 2, foreign: 2, recurring: true, reaps: 1, deletes: 1, late: true, first: waits}},
		{361691, "two writers and one that becomes a reader", scenario{
			locals: 2, foreign: 1, kinds: "WWWWMR", downgrades: 1, lagging: true}},
		{1900884, "a reader, a writer, and one that becomes a reader", scenario{
			locals: 2, foreign: 1, kinds: "RWWWMR", downgrades: 1, lagging: true}},
		{685152, "permits for two of three", scenario{
			locals: 2, foreign: 1, kinds: "SSSSSS", permits: 2}},
	}
}

// small is how many states are searched with the race detector, which has nothing to
// find in one goroutine.
const small = 50_000

// isLong reports whether the long form is wanted.
func isLong() bool { return extent.Slowdown() == 1 }

func TestNothingHappensThatMustNot(t *testing.T) {
	all := cases()
	if isLong() {
		all = append(all, longCases()...)
	}
	for _, c := range all {
		if extent.Race && c.states > small {
			continue // which would take it a minute
		}
		t.Run(c.name, func(t *testing.T) {
			r := c.search(2 * c.states)
			require.Empty(t, r.violation, "after these steps:\n%s", strings.Join(r.trace, "\n"))
			assert.Equal(t, c.states, r.states, "the model has changed: see the end of doc.go")
		})
	}
}
