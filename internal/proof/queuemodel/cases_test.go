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
		{2051, "one waits, and its node may be deleted", scenario{
			locals: 1, foreign: 1, deletes: 1}},
		{30976, "one waits, and nodes may be changed and deleted", scenario{
			locals: 1, foreign: 1, deletes: 1, changes: 1, lagging: true, late: true}},
		{48060, "one waits, over a break", scenario{
			locals: 1, foreign: 1, deletes: 1, breaks: 1, lagging: true}},
		{6350, "a writer waits for one that becomes a reader", scenario{
			locals: 1, foreign: 1, kinds: "WWWWMR", downgrades: 1, lagging: true, late: true}},
		{23475, "two writers wait for one that becomes a reader", scenario{
			locals: 2, foreign: 1, kinds: "WWWWMR", downgrades: 1, lagging: true, late: true, first: waits}},
		{111892, "two in turn, and a node may be deleted", scenario{
			locals: 2, deletes: 1}},
		{727992, "two in turn, and a lease may be lost", scenario{
			locals: 2, deletes: 1, losses: 1, late: true}},
		{128589, "two in turn just after they joined", scenario{
			locals: 2, deletes: 1, ages: true}},
		{343637, "two in turn just after they joined, over a break", scenario{
			locals: 2, deletes: 1, breaks: 1, lagging: true, late: true, ages: true, first: behind}},
		{440586, "one is next just after it joined, and a holder writes late, over a break", scenario{
			locals: 2, breaks: 1, lateWrites: 1, lagging: true, ages: true, first: behind}},
		{226018, "one is next just after it joined, ahead of another", scenario{
			locals: 2, foreign: 1, deletes: 1, lagging: true, late: true, ages: true, first: behind}},
		{508703, "writers are next just after they joined, and one becomes a reader", scenario{
			locals: 2, foreign: 1, kinds: "WWWWMR", downgrades: 1, deletes: 1, lagging: true, ages: true, first: waits}},
		{747131, "two are next in turn just after they joined", scenario{
			locals: 3, deletes: 1, lagging: true, ages: true, first: []string{"W0 joins", "W1 joins"}}},
		{13705, "two are next just after they joined, and a lease is lost", scenario{
			locals: 2, deletes: 1, losses: 1, lagging: true, ages: true, first: behind}},
		{625268, "one gives up ahead of one that has just joined", scenario{
			locals: 3, leaves: 1, ages: true, first: behind}},
		{39547, "one travels with others just after it joined", scenario{
			locals: 2, groups: true, refusals: 1, deletes: 1, ages: true, first: behind}},
		{146443, "nodes are changed just after they joined", scenario{
			locals: 2, deletes: 1, changes: 1, lagging: true, late: true, ages: true, first: behind}},
		{85254, "watches are not set again just after they joined", scenario{
			locals: 2, breaks: 1, unkept: 1, lagging: true, ages: true, first: behind}},
		{293258, "a writer joins behind readers of both sessions", scenario{
			locals: 2, foreign: 1, kinds: "RWWRMR", deletes: 1, lagging: true, ages: true, first: []string{"F0 joins", "W0 joins"}}},
		{68075, "a reader and a writer join behind a writer", scenario{
			locals: 3, kinds: "WRWWMR", ages: true, first: []string{"W0 joins", "W1 joins"}}},
		{1882935, "two in turn, over a break", scenario{
			locals: 2, deletes: 1, breaks: 1, lagging: true}},
		{149604, "one joins behind one that holds, over a break", scenario{
			locals: 2, deletes: 1, breaks: 1, lagging: true, first: behind}},
		{469963, "names are used again", scenario{
			locals: 2, foreign: 2, recurring: true, reaps: 1, deletes: 1, first: waits}},
		{360561, "one is next, and a holder writes late, over a break", scenario{
			locals: 2, breaks: 1, lateWrites: 1, lagging: true, first: behind}},
		{69952, "two travel together", scenario{
			locals: 2, groups: true, refusals: 1}},
		{92836, "two travel together, and a holder writes late", scenario{
			locals: 2, groups: true, refusals: 1, lateWrites: 1, first: behind}},
		{148628, "one travels with others, over a break", scenario{
			locals: 2, groups: true, refusals: 1, breaks: 1, lagging: true, first: behind}},

		{9095, "one stands behind another", scenario{
			locals: 2, foreign: 1, front: 1, deletes: 1, lagging: true, first: waits}},
		{235084, "one stands behind another, over a break", scenario{
			locals: 2, foreign: 1, front: 1, deletes: 1, breaks: 1, lagging: true, first: waits}},
		{2775263, "two stand behind one that gives up", scenario{
			locals: 3, front: 1, leaves: 1, deletes: 1, first: behind}},
		{2293331, "one stands behind another that joined before it, over a break", scenario{
			locals: 3, front: 1, breaks: 1, first: behind}},
		{20959, "one stands behind another, and a listing fails", scenario{
			locals: 2, foreign: 1, front: 1, failures: 2, leaves: 1, first: waits}},
		{1414554, "writers and a reader stand behind a writer", scenario{
			locals: 3, front: 1, kinds: "WWRWMR", deletes: 1, first: behind}},
		{1832532, "one stands behind two", scenario{
			locals: 3, foreign: 1, front: 2, deletes: 1, first: []string{"F0 joins", "W0 joins"}}},

		{90661, "watches are not set again", scenario{
			locals: 1, foreign: 1, deletes: 1, breaks: 1, unkept: 1, lagging: true}},
		{75299, "one waits for two", scenario{
			locals: 1, foreign: 2, deletes: 1, lagging: true}},
		{48829, "listings fail", scenario{
			locals: 2, failures: 2}},
		{464466, "a listing fails, and the connection breaks", scenario{
			locals: 2, breaks: 1, failures: 1}},
		{149813, "names are used again, one waits for two", scenario{
			locals: 1, foreign: 2, recurring: true, reaps: 1, deletes: 1, late: true}},
		{239890, "two wait for one", scenario{
			locals: 2, foreign: 1}},
		{391190, "two wait for one, over a break", scenario{
			locals: 2, foreign: 1, deletes: 1, breaks: 1, lagging: true, first: waits}},
		{162185, "one gives up", scenario{
			locals: 2, foreign: 1, deletes: 1, leaves: 1, lagging: true, first: waits}},
		{29748, "three in turn", scenario{
			locals: 3, deletes: 1, first: []string{"W0 joins", "W1 joins"}}},
		{92684, "two join behind one that holds", scenario{
			locals: 3, first: behind}},
		{93635, "permits", scenario{
			locals: 2, foreign: 1, kinds: "SSSSSS", permits: 2, deletes: 1, first: waits}},
		{311142, "two wait behind two", scenario{
			locals: 2, foreign: 2, deletes: 1, lagging: true, first: waits}},
		{649960, "two wait for one, over a break, and answers are late", scenario{
			locals: 2, foreign: 1, deletes: 1, breaks: 1, lagging: true, late: true, first: waits}},
		{175138, "two are next in turn, and nodes may be deleted", scenario{
			locals: 3, deletes: 2, lagging: true, first: []string{"W0 joins", "W1 joins"}}},
		{4221098, "two are next in turn, and one gives up", scenario{
			locals: 3, foreign: 1, deletes: 1, leaves: 1, first: []string{"W0 joins", "W1 joins"}}},
		{169660, "two travel together behind one, and one gives up", scenario{
			locals: 2, foreign: 1, groups: true, refusals: 1, leaves: 1, first: waits}},
		{91878, "one travels with others, and answers are late", scenario{
			locals: 2, groups: true, refusals: 1, deletes: 1, lagging: true, late: true, first: behind}},
		{14478, "listings in place of reads", scenario{
			locals: 2, foreign: 1, deletes: 1, lagging: true, noReads: true, first: waits}},
		{88645, "two writers and one that becomes a reader, and listings fail", scenario{
			locals: 2, foreign: 1, kinds: "WWWWMR", downgrades: 1, failures: 2, lagging: true, late: true, first: waits}},
		{97690, "a writer and one that becomes a reader, over a break", scenario{
			locals: 1, foreign: 1, kinds: "WWWWMR", downgrades: 1, breaks: 1, lagging: true, late: true}},
		{274850, "two writers and one that becomes a reader, over a break", scenario{
			locals: 2, foreign: 1, kinds: "WWWWMR", downgrades: 1, breaks: 1, lagging: true, first: waits}},
		{357130, "two writers and one that becomes a reader, and a node may be deleted", scenario{
			locals: 2, foreign: 1, kinds: "WWWWMR", downgrades: 1, deletes: 1, lagging: true, late: true, first: waits}},
		{306913, "two writers and one that becomes a reader, and one gives up", scenario{
			locals: 2, foreign: 1, kinds: "WWWWMR", downgrades: 1, leaves: 1, lagging: true, late: true, first: waits}},
	}
}

// longCases are more of them for the long form.
func longCases() []searched {
	waits := []string{"F0 joins", "W0 joins"}
	return []searched{
		{2283696, "one waits, over two breaks", scenario{
			locals: 1, foreign: 1, deletes: 1, changes: 1, breaks: 2, lagging: true, late: true}},
		{1627034, "one waits, and all may happen", scenario{
			locals: 1, foreign: 1, deletes: 2, changes: 1, breaks: 1, unkept: 1, losses: 1, lagging: true, late: true}},
		{10988885, "names are used again, over a break", scenario{
			locals: 1, foreign: 2, recurring: true, reaps: 1, deletes: 2, breaks: 1, lagging: true, late: true}},
		{5461076, "two in turn, over a break, and answers are late", scenario{
			locals: 2, deletes: 1, breaks: 1, lagging: true, late: true}},
		{6805303, "two in turn, over two breaks", scenario{
			locals: 2, deletes: 1, breaks: 2, lagging: true}},
		{3501694, "two in turn, a break, and a listing that fails", scenario{
			locals: 2, deletes: 1, breaks: 1, failures: 1}},
		{3514175, "two in turn, and watches are not set again", scenario{
			locals: 2, deletes: 1, breaks: 1, unkept: 1}},
		{3772729, "two in turn, a break, and one gives up", scenario{
			locals: 2, deletes: 1, breaks: 1, leaves: 1}},
		{5303987, "two wait for one that may be deleted", scenario{
			locals: 2, foreign: 1, deletes: 1, lagging: true}},
		{7938664, "two join behind a foreign holder, over a break", scenario{
			locals: 2, foreign: 1, deletes: 1, breaks: 1, first: []string{"F0 joins"}}},
		{2650698, "two join behind a foreign holder, and answers are late", scenario{
			locals: 2, foreign: 1, deletes: 1, lagging: true, late: true, first: []string{"F0 joins"}}},
		{2162507, "two wait for one, over two breaks", scenario{
			locals: 2, foreign: 1, deletes: 1, breaks: 2, lagging: true, first: waits}},
		{4270986, "three wait for one, over a break", scenario{
			locals: 3, foreign: 1, deletes: 1, breaks: 1, lagging: true, first: append(waits, "W1 joins")}},
		{1115073, "names are used again, and answers are late", scenario{
			locals: 2, foreign: 2, recurring: true, reaps: 1, deletes: 1, late: true, first: waits}},
		{15375295, "one is next, and a holder writes late, over two breaks", scenario{
			locals: 2, deletes: 1, breaks: 2, lateWrites: 1, lagging: true, first: []string{"W0 joins"}}},
		{2481985, "two are next in turn, over a break", scenario{
			locals: 3, deletes: 1, breaks: 1, lagging: true, first: []string{"W0 joins", "W1 joins"}}},
		{1614991, "two are next in turn behind a reader, and answers are late", scenario{
			locals: 3, foreign: 1, kinds: "WWRWMR", deletes: 1, downgrades: 1, lagging: true, late: true, first: []string{"F0 joins", "W0 joins", "W1 joins"}}},
		{531664, "two writers and one that becomes a reader", scenario{
			locals: 2, foreign: 1, kinds: "WWWWMR", downgrades: 1, lagging: true}},
		{2213352, "a reader, a writer, and one that becomes a reader", scenario{
			locals: 2, foreign: 1, kinds: "RWWWMR", downgrades: 1, lagging: true}},
		{583718, "two travel together, and a node may be deleted", scenario{
			locals: 2, groups: true, refusals: 1, deletes: 1}},
		{680973, "two travel together behind one that holds", scenario{
			locals: 3, groups: true, refusals: 1, first: []string{"W0 joins"}}},
		{1839793, "three travel together, over a break", scenario{
			locals: 3, groups: true, refusals: 1, breaks: 1, first: []string{"W0 joins", "W1 joins"}}},
		{2425790, "one travels with others, and a holder writes late, over a break", scenario{
			locals: 2, groups: true, refusals: 1, breaks: 1, lateWrites: 1, lagging: true, first: []string{"W0 joins"}}},
		{712670, "permits for two of three", scenario{
			locals: 2, foreign: 1, kinds: "SSSSSS", permits: 2}},
	}
}

// small is how many states a smaller case has.
const small = 50_000

// raced is how many states are searched with the race detector, which has nothing to
// find in one goroutine.
const raced = 10_000

// isLong reports whether the long form is wanted.
func isLong() bool { return extent.Slowdown() == 1 }

func TestNothingHappensThatMustNot(t *testing.T) {
	all := cases()
	if isLong() {
		all = append(all, longCases()...)
	}
	for _, c := range all {
		if extent.Race && c.states > raced {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			r := c.search(2 * c.states)
			require.Empty(t, r.violation, "after these steps:\n%s", strings.Join(r.trace, "\n"))
			assert.Equal(t, c.states, r.states, "the model has changed: see the end of doc.go")
		})
	}
}
