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
		File: "internal/queue/leave.go", Old: "_ = client.DeleteGuaranteed(ctx, node)", New: "_ = kit.Of(client).Release(ctx, node)",
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

// MultiLockHistoryMutants are bugs in a lock on several locks.
func MultiLockHistoryMutants() []Mutant {
	const alone, together = "TestMultiLock$", "TestHandOver/multi-lock"
	return []Mutant{{
		Name: "a multi-lock that fails keeps what it held", Package: histories, Tests: alone,
		File: "recipes/multilock/wait.go", Old: "\t\t\tall.Undo()\n", New: "",
	}, {
		Name: "a multi-lock is granted when its time for the next lock is up", Package: histories, Tests: alone,
		File: "recipes/multilock/wait.go", Old: "\t\t\tall.Undo()\n", New: "\t\t\tif after == slowed {\n\t\t\t\treturn all.Lease(), final, nil\n\t\t\t}\n\t\t\tall.Undo()\n",
	}, {
		Name: "a multi-lock is granted without the lock that it lost meanwhile", Package: histories, Tests: together,
		File: "recipes/multilock/wait.go", Old: "\t\t\tall.Undo()\n", New: "\t\t\tif after == lost {\n\t\t\t\treturn all.Lease(), final, nil\n\t\t\t}\n\t\t\tall.Undo()\n",
	}, {
		Name: "a multi-lock fails when it loses a lock before it has all", Package: histories, Tests: alone,
		File: "recipes/multilock/wait.go", Old: "\t\treturn lost\n", New: "\t\treturn final\n",
	}, {
		Name: "the next lock is acquired without the context of the one before", Package: histories, Tests: alone,
		File: "recipes/multilock/wait.go", Old: "l, err := m.Acquire(ctx, timeout)", New: "_ = ctx\n\t\tl, err := m.Acquire(w.ctx, timeout)",
	}, {
		Name: "each try of a multi-lock has the whole timeout", Package: histories, Tests: alone,
		File: "recipes/multilock/wait.go", Old: "acquire.Left(w.timeout, w.start)", New: "acquire.Left(w.timeout, time.Now())",
	}, {
		Name: "a lost multi-lock keeps its other locks", Package: histories, Tests: together,
		File: "internal/hold/several.go", Old: "if i != which {", New: "if i < 0 {",
	}, {
		Name: "a lost multi-lock ends the leases that share a lock with it", Package: histories, Tests: together,
		File: "internal/hold/together.go", Old: "case !alone:", New: "case false && alone:",
	}, {
		Name: "tokens of a multi-lock in the order in which they were acquired", Package: histories, Tests: alone,
		File: "internal/hold/several.go", Old: "tokens[p.rank] = p.Token()", New: "tokens[len(tokens)-1-p.rank] = p.Token()",
	}, {
		Name: "the Check of a multi-lock checks its first lock", Package: histories, Tests: together,
		File: "internal/hold/several.go", Old: "return client.AllOf(all...)", New: "return client.AllOf(all[:1]...)",
	}, {
		Name: "nodes that are created in one transaction are of the kind of the first, seen in histories", Package: histories, Tests: "^TestMixedLocks$",
		File: "internal/queue/together.go", Old: "p.queue.Node(p.queue.Kind), p", New: "p.queue.Node(all[0].queue.Kind), p",
	}, {
		Name: "only the first of several permits is given up with a multi-lock that begins again, seen in histories", Package: histories, Tests: "^TestMixedLocks$",
		File: "internal/hold/release.go", Old: "\t\th.remove()\n\t\tif by == discarded {", New: "\t\tkit.Of(h.client).DeleteInBackground(h.Path())\n\t\tif by == discarded {",
	}, {
		Name: "a multi-lock waits while it releases what it has given up", Package: "./internal/proof/conformance", Tests: "TestMultiLockThatGivesUpWaitsForNoAnswer",
		File: "internal/hold/release.go", Old: "if by >= discarded {", New: "if false {",
	}, {
		Name: "a znode that was deleted before it was watched takes room", Package: "./internal/proof/conformance", Tests: "TestNodeThatIsDeletedBeforeItIsWatchedTakesNoRoom",
		File: "internal/hold/release.go", Old: "\t\tkit.Of(h.client).Gone(h.Path())\n", New: "",
	}}
}
