package faultsweep

const histories = "./internal/proof/histories"

// HistoryMutants are bugs that must show in the histories of the recipes.
func HistoryMutants() []Mutant {
	return []Mutant{{
		Name: "a session is trusted for too long, seen in histories", Package: histories, Tests: "TestMutex",
		File: "framework/internal/guard/trust.go", Old: "{ return timeout - stopMargin(timeout) }", New: "{ return 2*timeout - stopMargin(timeout) }",
	}, {
		Name: "readers see only the first writer ahead", Package: histories, Tests: "TestReadWriteLock",
		File: "internal/locks/locks.go", Old: "if other.Kind != znode.Reader {\n", New: "if other.Kind != znode.Reader && other.Sequence == 0 {\n",
	}, {
		Name: "one permit too many, seen in histories", Package: histories, Tests: "TestSemaphoreWithSingleQueue",
		File: "recipes/semaphore/single_queue.go", Old: "if other.Weight > left {", New: "if other.Weight > left+1 {",
	}, {
		Name: "a release returns one permit of several", Package: histories, Tests: "TestSemaphore$",
		File: "internal/hold/release.go", Old: "ops = append(ops, framework.DeleteOp(path, framework.AnyVersion))", New: "if len(ops) == 0 {\n\t\t\tops = append(ops, framework.DeleteOp(path, framework.AnyVersion))\n\t\t}",
	}, {
		Name: "an observer is notified of one leader only", Package: histories, Tests: "TestLeaderElection",
		File: "recipes/leader/observe.go", Old: "if !o.begun || head.Node != o.node {", New: "if !o.begun {",
	}}
}

// HandOverHistoryMutants are bugs in the hand-over within a session, before the delete
// is answered. All must show in histories with several threads in each client.
func HandOverHistoryMutants() []Mutant {
	return []Mutant{{
		Name: "releases are not sent again before the gate opens", Package: histories, Tests: "TestHandOver/mutex",
		File: "framework/gate.go", Old: "\t\t\tg.session.releases.resend(c)\n", New: "",
	}, {
		Name: "the slot of a lost lease is handed over", Package: histories, Tests: "TestHandOver/mutex",
		File: "internal/hold/release.go", Old: "kit.Of(h.client).DeleteInBackground(path)", New: "go func() { _ = kit.Of(h.client).Release(context.Background(), path) }()",
	}, {
		Name: "a downgrade does not bar the hand-over, seen in histories", Package: histories, Tests: "TestHandOver/rwlock",
		File: "internal/hold/owner.go", Old: "\th.keeps = true\n", New: "",
	}, {
		Name: "the Check of a released lease is not refused", Package: histories, Tests: "TestHandOver/mutex",
		File: "internal/hold/check.go", Old: "if h.loss == nil && h.closed {", New: "if h.loss == nil && h.closed && h.removed {",
	}, {
		Name: "the position of a waiter that gives up is handed over", Package: histories, Tests: "TestHandOver/mutex",
		File: "internal/queue/position.go", Old: "_ = client.DeleteGuaranteed(ctx, node)", New: "_ = kit.Of(client).Release(ctx, node)",
	}}
}

// GroupHistoryMutants are bugs in how creates and deletes travel together. All must
// show in histories in which they do.
func GroupHistoryMutants() []Mutant {
	return []Mutant{{
		Name: "two creates of one parent are in one group, seen in histories", Package: histories, Tests: "TestHandOver/mutex",
		File: "framework/groups.go", Old: "code == guard.OpCreate && first != nil,", New: "false,",
	}, {
		Name: "a member of a group of unknown outcome is repeated, seen in histories", Package: histories, Tests: "TestHandOver/mutex",
		File: "framework/flight.go", Old: "if a.Err != nil || a.Code != 0 {", New: "if a.Err != nil {\n\t\treturn nil, f.members[0]\n\t}\n\tif a.Code != 0 {",
	}, {
		Name: "a release that is handed over joins a group, seen in histories", Package: histories, Tests: "TestHandOver/mutex",
		File: "framework/releases.go", Old: "\tif r.session.releases.add(r) {\n\t\ta.placed = r.tell\n\t}", New: "\ta.joins = parentOf(path)\n\tif r.session.releases.add(r) {\n\t\ta.placed = r.tell\n\t}",
	}, {
		Name: "what was not sent when the connection broke is lost, seen in histories", Package: histories, Tests: "TestHandOver/mutex",
		File: "framework/group_queue.go", Old: "\t\t\tf.giveBack()\n", New: "",
	}}
}
