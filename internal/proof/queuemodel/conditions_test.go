package queuemodel

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
)

// A leftOut is a condition that is left out: the line of the code that it models, and
// what happens in one of the cases.
type leftOut struct {
	name string
	condition
	file, line string
	violation  string
	in         string // the case; "" for none
}

const (
	unjust     = "unjust grant"
	evictsOne  = "evicted though its node stands"
	notGranted = "waits for ever although it is free"
	noNode     = "waits for ever without a node"
	notified   = "holds without a node, and is not notified"
	lateWrote  = "an earlier holder writes after a later one"
	oneToken   = "two acquirers have one token"
	joinsOn    = "joins for ever"

	oneWaits    = "one waits, and its node may be deleted"
	oneChanged  = "one waits, and nodes may be changed and deleted"
	oneBreak    = "one waits, over a break"
	oneWriter   = "a writer waits for one that becomes a reader"
	twoWriters  = "two writers wait for one that becomes a reader"
	twoInTurn   = "two in turn, and a node may be deleted"
	joined      = "two in turn just after they joined"
	twoLate     = "two in turn, and a lease may be lost"
	joinsBehind = "one joins behind one that holds, over a break"
	namesAgain  = "names are used again"
	writesLate  = "one is next, and a holder writes late, over a break"

	inGroups      = "two travel together"
	togetherLate  = "two travel together, and a holder writes late"
	togetherBreak = "one travels with others, over a break"

	oneBehind   = "one stands behind another"
	twoBehind   = "two stand behind one that gives up"
	oneOvertook = "one stands behind another that joined before it, over a break"
)

// needed are the conditions that are needed.
func needed() []leftOut {
	return []leftOut{
		{"ownWatch", ownWatch, "queue/admission.go", "p.watchOwn(true)", unjust, oneWaits},
		{"settledWatch", settledWatch, "queue/admission.go", "return p.node.watch == watched", unjust, oneWaits},
		{"ifReduced", ifReduced, "queue/admission.go", "if !v.reduced && !p.stoodBehind && p.basis", unjust, twoLate},
		{"showsOwn", showsOwn, "queue/admission.go", "case found && !v.isGone(p.self):", unjust, oneWaits},
		{"evictAfterAnswer", evictAfterAnswer, "queue/admission.go", "case v.listed > p.answered && v.shows(p.self):", evictsOne, twoInTurn},
		{"recheckWriters", recheckWriters, "queue/admission.go", "if p.recheckDue() {", unjust, oneWriter},
		{"recheckShown", recheckShown, "queue/listing.go", "range v.facts {\n\t\tv.remove(d)", unjust, twoWriters},
		{"ownReadWakes", ownReadWakes, "queue/admission.go", "if p.admissible {", notGranted, oneWaits},
		{"watchOwnEarly", watchOwnEarly, "queue/admission.go", "p.watchOwn(false)", noNode, oneWaits},
		{"voidByBreak", voidByBreak, "queue/view.go", "v.listed > v.voided && !closed(v.broken)", unjust, oneBreak},
		{"voidNameless", voidNameless, "queue/view.go", "v.voided = when", unjust, namesAgain},
		{"discardBroken", discardBroken, "queue/listing.go", "case closed(broken):", unjust, joinsBehind},
		{"brokenFirst", brokenFirst, "queue/listing.go", "broken := v.session.Suspended()\n\tv.begin()\n\tif v.isBroken()", unjust, joinsBehind},
		{"momentOfSending", momentOfSending, "queue/listing.go", "v.begin()\n\tif v.isBroken() || !kit.Of(v.client).SendChildren(", unjust, joinsBehind},
		{"factsSince", factsSince, "queue/listing.go", "v.sent, v.facts = v.tick(), nil", unjust, joinsBehind},
		{"listingWakes", listingWakes, "queue/listing.go", "p.unlisted = false\n\t\t\tp.notify()", noNode, oneWaits},
		{"retryFailed", retryFailed, "queue/listing.go", "if p.unlisted || tooLarge {", notGranted, oneBreak},
		{"repeatBroken", repeatBroken, "queue/listing.go", "len(v.wanting) > 0", notGranted, oneBreak},
		{"deletionWakes", deletionWakes, "queue/node.go", "range n.waiters {\n\t\tp.notify()", notGranted, oneWaits},
		{"firedWatch", firedWatch, "queue/node.go", "n.watch = fired", unjust, oneChanged},
		{"renewFired", renewFired, "queue/node.go", "n.watch, n.stop = unwatched, nil\n\tn.renew()", noNode, oneChanged},
		{"readLearns", readLearns, "queue/node.go", "v.learn(n.name.Node)", "livelock", oneWaits},
		{"heirNotified", heirNotified, "queue/node.go", "(*heir)(ev)", notified, oneWaits},
		{"missedWhileTaken", missedWhileTaken, "queue/node.go", "case n.watch != watched || n.missed:", notified, oneWaits},
		{"watchOfNext", watchOfNext, "queue/handover.go", "return p.node.watch == watched", unjust, twoInTurn},
		{"restEnds", restEnds, "queue/handover.go", "p.rest = time.AfterFunc(", noNode, joined},
		{"sentBeforeOver", sentBeforeOver, "../framework/releases.go", "a.placed = r.tell", lateWrote, writesLate},
		{"sentAgainFirst", sentAgainFirst, "../framework/gate.go", "g.session.releases.resend(c)\n\t\t\tg.conn = c", lateWrote, writesLate},
		{"oneOfParent", oneOfParent, "../framework/groups.go", "code == guard.OpCreate && first != nil", oneToken, inGroups},
		{"handsOverAlone", handsOverAlone, "../framework/releases.go", "a.code, a.record, a.finish = guard.OpDelete, versionRecord(path, AnyVersion), r.finish", lateWrote, togetherLate},
		{"repeatAlone", repeatAlone, "../framework/flight.go", "f.of.aloneOrBack(m)", joinsOn, inGroups},
		{"givenBack", givenBack, "../framework/group_queue.go", "f.giveBack()", joinsOn, togetherBreak},
		{"frontWakes", frontWakes, "queue/crowd.go", "c.behind[0].notify()", "stands behind nobody", oneBehind},
		{"showsBehind", showsBehind, "queue/admission.go", "&& v.shows(p.self)", "its node stays", twoBehind},
		{"keepsWanted", keepsWanted, "queue/listing.go", "if p.answered > 0 && end.Before(p.self) {", "livelock", oneOvertook},
		{"holdLooks", holdLooks, "hold/table.go", "look := now + LookDelay", notified, oneWaits},
	}
}

// saving are those that only save requests or time.
func saving() []leftOut {
	return []leftOut{
		{name: "facts", condition: facts, file: "queue/listing.go", line: "v.remove("},
		{name: "syncFirst", condition: syncFirst, file: "queue/listing.go", line: "err = v.lister.Sync(ctx, v.path)"},
		{name: "wantAfter", condition: wantAfter, file: "queue/listing.go", line: "if v.listed > after {"},
		{name: "listingForgets", condition: listingForgets, file: "queue/listing.go", line: "v.forget(n)"},
		{name: "dropJoining", condition: dropJoining, file: "queue/listing.go", line: "v.dropJoining()"},
		{name: "learnOnce", condition: learnOnce, file: "queue/view.go", line: "v.knowsOf(name)"},
		{name: "eventEvicts", condition: eventEvicts, file: "queue/node.go", line: "p.evicted = true"},
		{name: "inherit", condition: inherit, file: "queue/position.go", line: "return p.node, nil"},
		{name: "overOfConnection", condition: overOfConnection, file: "queue/policy.go", line: "slot.on != a.on"},
		{name: "noReaderBeside", condition: noReaderBeside, file: "queue/view.go", line: "&& !released"},
		{name: "toldAgain", condition: toldAgain, file: "../framework/groups.go", line: "g.conn.Send(code, record, m)"},
		{name: "joinsUnlisted", condition: joinsUnlisted, file: "queue/position.go", line: "!v.crowd.isFull() {"},
		{name: "trims", condition: trims, file: "queue/listing.go", line: "v.trim()"},
		{name: "lookAhead", condition: lookAhead, file: "queue/lookahead.go", line: "next := p.next(at, wait, policy)"},
	}
}

// The model is of the code as it is: each condition is still a line of it, and in the
// package comment.
func TestEachConditionIsOfTheCode(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for _, c := range slices.Concat(needed(), saving()) {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(c.file)))
		require.NoError(t, err)
		assert.Contains(t, string(text), c.line, "%s: %s has changed. See whether the model still follows it", c.name, c.file)
		assert.Contains(t, string(doc), "\n//	"+c.name+" ")
	}
}

func TestEachConditionIsNeeded(t *testing.T) {
	all := cases()
	for _, c := range needed() {
		t.Run(c.name, func(t *testing.T) {
			i := slices.IndexFunc(all, func(s searched) bool { return s.name == c.in })
			require.GreaterOrEqual(t, i, 0)
			s := all[i]
			if extent.Race && s.states > raced {
				return
			}
			s.without = c.condition
			r := s.search(2*s.states + 2*small)
			require.Equal(t, c.violation, r.violation)
			t.Logf("after %d states:\n%s", r.states, strings.Join(r.trace, "\n"))
		})
	}
}

// The long form shows in the smaller cases that the others are not.
func TestNothingHappensWithoutWhatOnlySaves(t *testing.T) {
	if !isLong() {
		return
	}
	for _, c := range saving() {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range cases() {
				if s.states > 4*small {
					continue
				}
				s.without = c.condition
				r := s.search(1 << 22)
				require.Empty(t, r.violation, "%s: after these steps:\n%s", s.name, strings.Join(r.trace, "\n"))
				require.LessOrEqual(t, r.states, 1<<22, "%s: there are too many states", s.name)
			}
		})
	}
}
