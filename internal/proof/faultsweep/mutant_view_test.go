package faultsweep

const waits = "./internal/queue"

// ViewMutants are bugs in what the waiters of one session share.
func ViewMutants() []Mutant {
	return []Mutant{{
		Name: "a refused delete counts as a deletion", Package: waits, Tests: "TestOnlyADeleteThatWasAnsweredAdmits",
		File: "framework/nodes.go", Old: "if err == nil || errors.Is(err, zk.ErrNoNode) {", New: "if err != nil || !errors.Is(err, zk.ErrNoNode) {",
	}, {
		Name: "a name without an id is used once", Package: waits, Tests: "TestANameThatIsUsedAgainCounts",
		File: "internal/queue/view.go", Old: "if !isUnique(name) {", New: "if false {",
	}, {
		Name: "a deletion admits without the watch on the own node", Package: waits, Tests: "TestADeletionAheadWaits",
		File: "internal/queue/admission.go", Old: "return p.node.watch == watched", New: "return true",
	}, {
		Name: "a watch that has fired counts as set", Package: waits, Tests: "TestOwnWatchIsSetAgain",
		File: "internal/queue/node.go", Old: "n.watch, n.stop = unwatched, nil\n\tn.renew()", New: "n.stop = nil",
	}, {
		Name: "a listing from before the create evicts", Package: waits, Tests: "TestAnEarlierListingEvictsNoOne",
		File: "internal/queue/admission.go", Old: "case v.listed > p.answered:\n\t\treturn -1,", New: "case v.listed > 0:\n\t\treturn -1,",
	}, {
		Name: "each waiter lists for itself", Package: waits, Tests: "TestCrowdSharesItsLooks",
		File: "internal/queue/listing.go", Old: "if v.listing || v.closed || v.listed > 0 && closed(v.broken) {", New: "if v.closed || v.listed > 0 && closed(v.broken) {",
	}, {
		Name: "waiters do not learn of deletes of their own session", Package: waits, Tests: "TestCrowdSharesItsLooks",
		File: "internal/queue/node.go", Old: "p.notify()\n\t}\n\tn.owner, n.waiters = nil, nil", New: "_ = p\n\t}\n\tn.owner, n.waiters = nil, nil",
	}, {
		Name: "an older listing shows what a writer has become", Package: rwScenarios, Tests: "Curator621",
		File: "internal/queue/admission.go", Old: "if r.gone.Before(p.self) && p.mustRecheck(r.gone) {", New: "if false {",
	}, {
		Name: "only events wake a waiter, no slow look does", Package: suites, Tests: "^TestMutex$/the_node_ahead_is_deleted_without",
		File: "internal/queue/views.go", Old: "v.list()\n\t\ttimer", New: "timer",
	}, {
		Name: "a queue of readers looks ahead as one", Package: rwScenarios, Tests: "Kazoo2",
		File: "internal/queue/lookahead.go", Old: "wait[0].Node != nearest[0].Node ||", New: "",
	}}
}
