package faultsweep

// A Mutant is a bug planted in the library by a change of its text.
type Mutant struct {
	// Name says what is wrong.
	Name string
	// File is the file, from the root of the module, Old the text in it, which must be
	// there once, and New what replaces it.
	File, Old, New string
	// Tests are those that must find it, as a pattern for "go test -run", and Package
	// is where they are.
	Package, Tests string
}

const (
	sweeps    = "./internal/proof/faultsweep"
	sweepTest = "^(TestEveryCallFails|TestLeanFaults)$/^aMutex$"

	suites      = "./internal/proof/conformance"
	scenarios   = "./recipes/mutex"
	rwScenarios = "./recipes/rwlock"
	elections   = "./recipes/leader"
	permits     = "./recipes/semaphore"
)

// Mutants are bugs that locks on ZooKeeper have had, or could have.
func Mutants() []Mutant {
	return []Mutant{{
		Name: "a contender is granted when second in the queue", Package: sweeps, Tests: sweepTest,
		File: "internal/queue/policy.go", Old: "for nearest := range a.All {", New: "n := 0\n\tfor nearest := range a.All {\n\t\tif n++; n < 2 {\n\t\t\tcontinue\n\t\t}",
	}, {
		Name: "a writer is admitted beside a downgraded writer", Package: rwScenarios, Tests: "Curator621",
		File: "internal/locks/locks.go", Old: "return gone.Kind == znode.Writer && self.Kind != znode.Reader", New: "return false",
	}, {
		Name: "a downgrade does not check its listing", Package: rwScenarios, Tests: "Curator621",
		File: "recipes/rwlock/downgrade.go", Old: "case !slices.Contains(children, other):", New: "case false:",
	}, {
		Name: "a downgraded writer queues like any other reader", Package: rwScenarios, Tests: "Curator621",
		File: "recipes/rwlock/downgrade.go", Old: "other[max(0, len(other)-znode.SequenceDigits):]", New: "\"0999999999\"[:znode.SequenceDigits]",
	}, {
		Name: "a reader waits for the first writer", Package: rwScenarios, Tests: "CuratorR8|Kazoo2",
		File: "internal/locks/locks.go", Old: "return []znode.Name{other}\n\t\t}\n\t}\n\treturn nil", New: "wait = []znode.Name{other}\n\t\t}\n\t}\n\treturn wait",
	}, {
		Name: "a reader is granted behind a writer", Package: sweeps, Tests: "^TestEveryCallFails$/^aReadWriteLock$",
		File: "internal/locks/locks.go", Old: "if other.Kind != znode.Reader {", New: "if other.Kind == znode.Mutex {",
	}, {
		Name: "every reader looks again when a writer has gone", Package: rwScenarios, Tests: "CuratorR8",
		File: "internal/locks/locks.go", Old: "return gone.Kind == znode.Writer && self.Kind != znode.Reader", New: "return gone.Kind == znode.Writer",
	}, {
		Name: "a reader may acquire the write lock", Package: rwScenarios, Tests: "UpgradingIsDisallowed",
		File: "recipes/rwlock/rwlock.go", Old: "case reading != nil:", New: "case reading != nil && false:",
	}, {
		Name: "a downgraded lease ends with the write lease", Package: rwScenarios, Tests: "Curator621",
		File: "internal/hold/owner.go", Old: "if !errors.Is(cause, releasedError{h}) {", New: "if true {",
	}, {
		Name: "the last in the queue is admitted first", Package: sweeps, Tests: sweepTest,
		File: "internal/znode/name.go", Old: "return cmp.Compare(a.Sequence, b.Sequence)", New: "return cmp.Compare(b.Sequence, a.Sequence)",
	}, {
		Name: "granted although the own node is not listed", Package: suites, Tests: "^TestMutex$/the_own_node",
		File: "internal/queue/admission.go", Old: "case v.listed > p.answered && v.shows(p.self):\n\t\tp.missing = true\n\t\treturn -1, ErrEvicted", New: "case v.listed > p.answered:\n\t\treturn at, nil",
	}, {
		Name: "a wait that ends leaves its node", Package: sweeps, Tests: sweepTest,
		File: "internal/acquire/try.go", Old: "t.askHead()\n\tp.Leave(t.wait.ctx)", New: "t.askHead()",
	}, {
		Name: "a wait goes on while Close waits for leases", Package: suites, Tests: "^TestMutex$/a_closing_client_waits_for_releases",
		File: "internal/acquire/wait.go", Old: "OnClose(&w.closing)", New: "OnClose(&kit.CloseListener{Closes: func(error) {}})",
	}, {
		Name: "a wait whose time is up was cancelled", Package: scenarios, Tests: "TestTimeoutErrorNamesThePresentHolder",
		File: "internal/acquire/wait.go", Old: "errors.Is(context.Cause(w.ctx), errWaitOver) ||", New: "",
	}, {
		Name: "a node is removed under a cancelled context", Package: sweeps, Tests: sweepTest,
		File: "internal/queue/leave.go", Old: "_ = client.DeleteGuaranteed(ctx, node)", New: "cancel()\n\t_ = client.Delete(ctx, node, framework.AnyVersion)",
	}, {
		Name: "a hand-over trusts the order of events across a reconnect", Package: suites, Tests: "^TestMutex$/the_own_node_and_those_ahead",
		File: "internal/queue/view.go", Old: "return v.listed > v.voided && !closed(v.broken)", New: "return v.listed > v.voided",
	}, {
		Name: "the end of one node ahead admits although more are ahead", Package: sweeps, Tests: sweepTest,
		File: "internal/queue/view.go", Old: "len(v.names) > 0 && v.isGone(v.names[0]);", New: "len(v.names) > 1;",
	}, {
		Name: "a lease does not check its session", Package: scenarios, Tests: "LeaseOfLostSessionIsNotValid_Kazoo15",
		File: "internal/hold/hold.go", Old: "if err := h.Session().Err(); err != nil {", New: "if err := h.Session().Err(); err != nil && false {",
	}, {
		Name: "a hold does not take over the watch of its wait", Package: scenarios, Tests: "RightAfterHandOver",
		File: "internal/hold/hold.go", Old: "if g.Watch == nil {", New: "if true {",
	}, {
		Name: "a lost lease is re-entered", Package: suites, Tests: "^TestMutex$/a_lease_is_re-entered",
		File: "internal/hold/fork.go", Old: "return nil, nil, h.loss.why", New: "return nil, nil, nil",
	}, {
		Name: "a release ends the work last", Package: "./internal/hold", Tests: "TestContextEndsBeforeTheNodeGoes",
		File: "internal/hold/handle.go", Old: "\th.end(how)", New: "\tdefer h.end(how)",
	}, {
		Name: "the next fork is admitted while a release goes on", Package: "./internal/hold", Tests: "TestClaimCountsUntilItsContextHasEnded",
		File: "internal/hold/fork.go", Old: "if above.claims--; above.claims > 0 {",
		New: "open := false\n\t\tfor other := h.handles; other != nil; other = other.next {\n\t\t\topen = open || other.owner == above\n\t\t}\n\t\tif above.claims--; above.claims > 0 && open {",
	}, {
		Name: "a release gives up when its answer is dropped", Package: sweeps, Tests: sweepTest,
		File: "framework/cleanup.go", Old: "if err != nil && !c.endedBy(err) && !errors.Is(err, ErrNoNode) && !refused(err) {", New: "if false {",
	}, {
		Name: "a create whose answer is dropped is not searched for", Package: sweeps, Tests: sweepTest,
		File: "framework/protected.go", Old: "outcome == Failed && p.pauses == nil ||", New: "true ||",
	}, {
		Name: "a cancelled create is not cleaned up", Package: suites, Tests: "^TestMutex$/a_create_is_cancelled",
		File: "framework/cleanup.go", Old: "path := join(parent, id.Name(\"\"))", New: "path := join(parent, id.Name(\"\"))\n\tif true {\n\t\treturn\n\t}",
	}, {
		Name: "no sync before the search", Package: suites, Tests: "^TestMutex$/a_lagging_server_is_searched_for_a_node",
		File: "framework/protected.go", Old: "if err := c.Sync(ctx, parent); err != nil {\n\t\treturn nil, err\n\t}", New: "",
	}, {
		Name: "no owner check in the search", Package: suites, Tests: "^TestMutex$/the_node_that_is_found_is_of_another_session",
		File: "framework/protected.go", Old: "(mode.ephemeral() && stat.EphemeralOwner != c.pinned.ID())", New: "(mode.ephemeral() && stat.EphemeralOwner == 0)",
	}, {
		Name: "deletions wake no waiter", Package: scenarios, Tests: "CostOfHandOver",
		File: "framework/session.go", Old: "s.gone(path)", New: "s.quota.gone(path)",
	}, {
		Name: "a session is trusted for too long", Package: sweeps, Tests: sweepTest,
		File: "framework/internal/guard/trust.go", Old: "{ return timeout - stopMargin(timeout) }", New: "{ return 2*timeout - stopMargin(timeout) }",
	}, {
		Name: "one permit too many", Package: sweeps, Tests: "^TestEveryCallFails$/^aMixedSemaphore$",
		File: "recipes/semaphore/curator_head.go", Old: "case len(now.holders)+a.n <= now.size:", New: "case len(now.holders)+a.n <= now.size+1:",
	}, {
		Name: "one permit too many in a single queue", Package: sweeps, Tests: "^TestEveryCallFails$/^aMixedSingleQueue$",
		File: "recipes/semaphore/single_queue.go", Old: "if other.Weight > left {", New: "if other.Weight > left+1 {",
	}, {
		Name: "a permit is made although the queue position is gone", Package: permits, Tests: "PositionIsDeletedBefore",
		File: "recipes/semaphore/curator_head.go", Old: "framework.DeleteOp(a.position.Path(), framework.AnyVersion),", New: "",
	}, {
		Name: "a permit is made although the size has changed", Package: permits, Tests: "ResizeWhileThePermitIsMade",
		File: "recipes/semaphore/curator_head.go", Old: "framework.CheckOp(a.s.recipe.Path, now.record.stat.Version))", New: ")",
	}, {
		Name: "an event about the head is trusted across a reconnect", Package: permits, Tests: "UnconfirmedHead",
		File: "internal/queue/admission.go", Old: "p.unconfirmed = v.broken", New: "p.unconfirmed = nil",
	}, {
		Name: "the head does not see the size change", Package: permits, Tests: "Curator75",
		File: "recipes/semaphore/curator_head.go", Old: "case <-now.record.watch.Events():\n", New: "",
	}, {
		Name: "waiters behind the head do not see the size change", Package: permits, Tests: "ResizeMakesItTooMany",
		File: "internal/queue/admission.go", Old: "case <-also.events():\n\t\talso.watch = nil\n", New: "",
	}, {
		Name: "a cancelled request for several permits is cleaned up in part", Package: suites, Tests: "^TestSemaphore$/Curator's_layout/a_create_is_cancelled",
		File: "framework/cleanup.go", Old: "for _, node := range all {", New: "for _, node := range all[:min(len(all), 1)] {",
	}, {
		Name: "a refusal counts although the first attempt took effect", Package: "./framework", Tests: "RefusedBecause",
		File: "framework/protected.go", Old: "outcome == Failed && p.pauses == nil ||", New: "outcome == Failed && (p.pauses == nil || errors.Is(err, ErrNoNode)) ||",
	}, {
		Name: "a server that refuses at once is flooded with creates", Package: "./framework", Tests: "OutcomeArePaused",
		File: "framework/protected.go", Old: "over = p.client.pause(ctx, p.pauses)", New: "",
	}, {
		Name: "a server that refuses at once is flooded with creates of parents", Package: "./framework", Tests: "OutcomeArePaused",
		File: "framework/create.go", Old: "if over := c.pause(ctx, pauses); over != nil {", New: "if over := ctx.Err(); over != nil && pauses != nil {",
	}, {
		Name: "the rest of several permits stays", Package: suites, Tests: "^TestSemaphore$/Curator's_layout/a_node_of_a_holder_changes",
		File: "internal/hold/release.go", Old: "&& len(h.entry.also) == 0", New: "",
	}, {
		Name: "only the first of several permits is watched", Package: suites, Tests: "^TestSemaphore$/Curator's_layout/a_node_of_a_holder_changes",
		File: "internal/hold/table.go", Old: "for i := range h.entry.also {", New: "for i := range h.entry.also[:0] {",
	}, {
		Name: "only the first of several permits is removed", Package: permits, Tests: "MaxHold",
		File: "internal/hold/release.go", Old: "\t\tall = append(all, n.path)\n", New: "\t\tall = append(all, n.path)[:1]\n",
	}, {
		Name: "a leader resigns before its function has returned", Package: sweeps, Tests: "^TestEveryCallFails$/^aLeaderLeading$",
		File: "recipes/leader/lead.go", Old: "failed = l.fn(ctx, term)",
		New: "defer context.AfterFunc(ctx, func() { _ = term.Release() })()\n\tfailed = l.fn(ctx, term)",
	}, {
		Name: "Lead gives up after a lost session", Package: elections, Tests: "Curator16",
		File: "recipes/leader/lead.go", Old: "case hopeless(ended):", New: "case ended != nil:",
	}, {
		Name: "Lead reports its deadline as a timeout of an Acquire", Package: elections, Tests: "LeadReturnsItsDeadline",
		File: "recipes/leader/lead.go", Old: "return true, l.cancelled(ctx, err)", New: "return true, fmt.Errorf(\"lead: %w\", err)",
	}, {
		Name: "Do reports a loss twice", Package: leases, Tests: "DoReportsALossOnce",
		File: "recipes/lease/do.go", Old: "released != nil && !errors.Is(err, released)", New: "released != nil",
	}, {
		Name: "failures do not slow a leader down", Package: elections, Tests: "Users28d",
		File: "recipes/leader/lead.go", Old: "if failed == nil || took >= steady {", New: "if true {",
	}, {
		Name: "a leader does not see a revocation request", Package: elections, Tests: "Curator171",
		File: "recipes/leader/lead.go", Old: "cancel(ErrRevocationRequested)", New: "",
	}, {
		Name: "an observer misses a leader between read and watch", Package: elections, Tests: "BetweenLookAndWatch",
		File: "internal/queue/head.go", Old: "return len(q.Among(children)) > 0, w, err", New: "return len(children) < 0, w, err",
	}, {
		Name: "an observer misses that the path is made between read and watch", Package: elections, Tests: "BetweenLookAndWatch",
		File: "internal/queue/head.go", Old: "return exists, w, err", New: "return exists && false, w, err",
	}, {
		Name: "an observer begins with an older leader", Package: elections, Tests: "BeginsWithThePresent",
		File: "recipes/leader/observe.go", Old: "if !o.begun {", New: "if false {",
	}, {
		Name: "an observer reports the first leader only", Package: elections, Tests: "YieldsEveryChange",
		File: "recipes/leader/observe.go", Old: "|| head.Node != o.node {", New: "{",
	}}
}
