package faultsweep

const waits = "./internal/queue"

// ViewMutants are bugs in what the waiters of one session share.
func ViewMutants() []Mutant {
	return []Mutant{{
		Name: "a refused delete counts as a deletion", Package: waits, Tests: "TestOnlyADeleteThatWasAnsweredAdmits",
		File: "framework/releases.go", Old: "case err == nil, errors.Is(err, ErrNoNode):\n", New: "case err != nil || !errors.Is(err, ErrNoNode):\n",
	}, {
		Name: "a name without an id is used once", Package: waits, Tests: "TestANameThatIsUsedAgainCounts",
		File: "internal/queue/view.go", Old: "if !isUnique(name) {", New: "if false {",
	}, {
		Name: "a rule that has changed admits without the watch on the own node", Package: permits, Tests: "TestSizeGrowsAfterTheNodeOfAWaiterWasDeleted",
		File: "internal/queue/admission.go", Old: "if !v.reduced && !p.stoodBehind && p.basis != v.listed {", New: "if !v.reduced {",
	}, {
		Name: "a rule that is older than a deletion admits", Package: waits, Tests: "TestARuleThatIsOlder",
		File: "internal/queue/view.go", Old: "when := v.tick() // a rule", New: "when := v.clock // a rule",
	}, {
		Name: "a deletion admits without the watch on the own node", Package: waits, Tests: "TestADeletionAheadWaits",
		File: "internal/queue/admission.go", Old: "return p.node.watch == watched", New: "return true",
	}, {
		Name: "a watch that has fired counts as set", Package: waits, Tests: "TestOwnWatchIsSetAgain",
		File: "internal/queue/node.go", Old: "n.watch, n.stop = unwatched, nil\n\tn.renew()", New: "n.stop = nil",
	}, {
		Name: "a listing from before the create evicts", Package: waits, Tests: "TestAnEarlierListingEvictsNoOne",
		File: "internal/queue/admission.go", Old: "case v.listed > p.answered && v.shows(p.self):", New: "case v.listed > 0:",
	}, {
		Name: "a listing that fails is not sent again", Package: waits, Tests: "TestListingsAndReadsThatFail",
		File: "internal/queue/listing.go", Old: "case v.listing && err != nil:\n\t\tv.run(v.listAgain)", New: "case v.listing && err != nil:",
	}, {
		Name: "a read that fails ends the wait", Package: waits, Tests: "TestListingsAndReadsThatFail",
		File: "internal/queue/node.go", Old: "if err != nil && !errors.Is(err, framework.ErrNoNode) {", New: "if false {",
	}, {
		Name: "reads make no room for others", Package: waits, Tests: "TestReadsOfACrowd",
		File: "internal/queue/node.go", Old: "v.reading--\n", New: "",
	}, {
		Name: "a watch that has fired is set again when something else is sent", Package: waits, Tests: "TestWatchAheadIsSetAgain",
		File: "internal/queue/node.go", Old: "defer n.view.unlock()\n\tn.missed = true", New: "defer n.view.mu.Unlock()\n\tn.missed = true",
	}, {
		Name: "each waiter lists for itself", Package: waits, Tests: "TestCrowdSharesItsLooks",
		File: "internal/queue/listing.go", Old: "if !v.listing && !v.closed {", New: "if !v.closed {",
	}, {
		Name: "waiters do not learn of deletes of their own session", Package: waits, Tests: "TestCrowdSharesItsLooks",
		File: "internal/queue/node.go", Old: "p.notify()\n\t}\n\tn.owner, n.waiters = nil, nil", New: "_ = p\n\t}\n\tn.owner, n.waiters = nil, nil",
	}, {
		Name: "an older listing shows what a writer has become", Package: rwScenarios, Tests: "Curator621",
		File: "internal/queue/admission.go", Old: "return gone.Before(p.self) && p.mustRecheck(gone) })", New: "return false })",
	}, {
		Name: "only events wake a waiter, no slow look does", Package: suites, Tests: "^TestMutex$/the_node_ahead_is_deleted_without",
		File: "internal/queue/views.go", Old: "v.list()\n\t\ttimer", New: "timer",
	}, {
		Name: "a listing tells of no deletion", Package: suites, Tests: "^TestMutex$/the_node_ahead_is_deleted_without",
		File: "internal/queue/listing.go", Old: "if n.listed != v.listed || v.isGone(n.name) {", New: "if v.isGone(n.name) {",
	}, {
		Name: "a queue of readers looks ahead as one", Package: rwScenarios, Tests: "Kazoo2",
		File: "internal/queue/lookahead.go", Old: "wait[0].Node != nearest.Node ||", New: "",
	}, {
		Name: "an event before the answer of its read is forgotten", Package: waits, Tests: "TestWatchThatFiresBeforeItsReadIsHandled",
		File: "internal/queue/node.go", Old: "n.watch = fired // the answer comes next", New: "",
	}, {
		Name: "events do not reach the hold that has taken the watch", Package: waits, Tests: "TestHoldIsNotifiedByTheWatchOfItsPosition",
		File: "internal/queue/node.go", Old: "\tn.inherit(notify)\n", New: "",
	}, {
		Name: "an event looks for its hold before it is recorded", Package: waits, Tests: "TestEventDuringTheHandoverOfTheWatch",
		File: "internal/queue/node.go", Old: "\t\tn.onChange()\n", New: "\t\tdefer n.onChange()\n",
	}, {
		Name: "a hold does not ask for events before it", Package: "./internal/acquire", Tests: "TestRevocationAtTheMomentOfTheGrant",
		File: "internal/queue/node.go", Old: "n.watch != watched || n.missed", New: "n.watch != watched",
	}, {
		Name: "a node that is known to be deleted is granted", Package: scenarios, Tests: "TestNodeDeletedBeforeTheGrant",
		File: "internal/queue/position.go", Old: "case p.evicted:\n\t\treturn nil, ErrEvicted\n\tcase p.node", New: "case p.node",
	}, {
		Name: "the error of a wait has the path of another client", Package: scenarios, Tests: "TestTimeoutErrorNamesTheHolderBesideANamespace",
		File: "internal/queue/admission.go", Old: "p.seen.record(p.queue.Path, ahead,", New: "p.seen.record(v.path, ahead,",
	}, {
		Name: "writers that leave behind a waiter have it list again", Package: waits, Tests: "TestAWriterBehindThatLeavesHasNobodyListAgain",
		File: "internal/queue/admission.go", Old: "return gone.Before(p.self) && p.mustRecheck", New: "return p.mustRecheck",
	}, {
		Name: "a crowd does not list again after a writer has left", Package: waits, Tests: "TestCrowdsUnderFaults",
		File: "internal/queue/admission.go", Old: "\tif p.recheckDue() {\n\t\tv.want(p, v.listed)\n\t\treturn false\n\t}\n", New: "",
	}, {
		Name: "a listing from before a downgrade admits when the deletion is known", Package: "./recipes/rwlock", Tests: "^TestListingFromBeforeADowngradeIsHandledAfterIt$",
		File: "internal/queue/listing.go", Old: "\t\tv.remove(d)\n", New: "\t\tv.remove(deletion{gone: d.gone})\n",
	}, {
		Name: "a look is passed on past another client", Package: permits, Tests: "TestPermitOfAnotherClientBetween",
		File: "internal/queue/pass.go", Old: "next.self.Node != name.Node || next.awaiting == nil {\n\t\t\treturn false", New: "next.self.Node != name.Node {\n\t\t\tcontinue",
	}, {
		Name: "a look counts that does not show the permits of the head", Package: permits, Tests: "TestListingBeforeThePermitOfTheHead",
		File: "recipes/semaphore/curator_next.go", Old: "!slices.Contains(l.found, l.made)", New: "slices.Contains(l.found, l.made+l.made)",
	}, {
		Name: "a size from before the create is passed on", Package: permits, Tests: "TestCostOfPermitsOneAfterAnother",
		File: "internal/queue/pass.go", Old: "of(next.answered <= moment)", New: "of(true)",
	}}
}
