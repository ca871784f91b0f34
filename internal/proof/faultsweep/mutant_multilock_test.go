package faultsweep

// MultiLockMutants are bugs in locks on several locks.
func MultiLockMutants() []Mutant {
	const (
		several = "./recipes/multilock"
		client  = "./framework"
	)
	return []Mutant{{
		Name: "locks are acquired in the order in which they were given", Package: several, Tests: "^TestLocksAreAcquiredInTheOrder",
		File: "recipes/multilock/multilock.go", Old: "return cmp.Compare(a.fullPath(), b.fullPath())", New: "_, _ = cmp.Compare(0, 0), b; return 0",
	}, {
		Name: "a lock is waited for without a limit while others are held", Package: several, Tests: "^TestForeignOrderDelays",
		File: "recipes/multilock/wait.go", Old: "limited := keepsOthersOut && limit < timeout", New: "limited := keepsOthersOut && false",
	}, {
		Name: "what is held is kept when another lock is not acquired", Package: several, Tests: "^TestForeignOrderDelays",
		File: "recipes/multilock/wait.go", Old: "\t\t\tall.Undo()\n", New: "",
	}, {
		Name: "the locks are acquired independently of each other", Package: several, Tests: "^TestContextReentersEachLock$",
		File: "recipes/multilock/wait.go", Old: "\t\tctx = l.Context() //nolint", New: "\t\t_ = ctx //nolint",
	}, {
		Name: "a try is not repeated when a lock was lost before all were held", Package: several, Tests: "^TestLockIsLostBeforeAllAreHeld$",
		File: "recipes/multilock/wait.go", Old: "\t\treturn lost\n", New: "\t\treturn final\n",
	}, {
		Name: "a lock that the caller has anyway counts as held for the limit", Package: several, Tests: "^TestNoLimitWhileNothing",
		File: "recipes/multilock/wait.go", Old: "if first && !keepsOthersOut {", New: "if (first || true) && !keepsOthersOut {",
	}, {
		Name: "a wait goes on after another client of its locks was closed", Package: several, Tests: "^TestClientOfAnotherLockIsClosed$",
		File: "internal/acquire/besides.go", Old: "\t\tkit.Of(c).OnClose(&listeners[i])\n", New: "\t\t_ = c\n",
	}, {
		Name: "the other locks are kept when one is lost", Package: several, Tests: "^TestOneOfTheLocksIsLost$",
		File: "internal/hold/several.go", Old: "if i != which {", New: "if i != which && false {",
	}, {
		Name: "a loss is noticed at the first lock only", Package: several, Tests: "^TestOneOfTheLocksIsLost$",
		File: "internal/hold/several.go", Old: "\tfor i, p := range s.parts {\n\t\tOnEnd(", New: "\tfor i, p := range s.parts[:1] {\n\t\tOnEnd(",
	}, {
		Name: "a multi-lock always begins with the same lock", Package: several, Tests: "^TestWaitsForTheLockThatItCouldNotGet$",
		File: "recipes/multilock/wait.go", Old: "\t\t\t\tw.beginWith(i)\n", New: "\t\t\t\t_ = i\n",
	}, {
		Name: "two multi-locks begin again in step", Package: "./internal/proof/histories", Tests: "^TestMultiLock$",
		File: "recipes/multilock/wait.go", Old: "return limit - limit/2/1000*time.Duration(h.Sum32()%1000)", New: "return limit",
	}, {
		Name: "a claim that was given up says that it is valid", Package: "./internal/proof/histories", Tests: "^TestHandOver$/multi-lock",
		File: "internal/hold/handle.go", Old: "return h.hold.lost(lease.ErrMemberLost) // it was given up", New: "return nil",
	}, {
		Name: "a check is about the first lock only", Package: several, Tests: "^TestCheckCoversAllLocks$",
		File: "internal/hold/several.go", Old: "all = append(all, p.Check())", New: "all = append(all, s.parts[0].Check())",
	}, {
		Name: "an operation that stands for several is the first of them", Package: client, Tests: "^TestMultiWithAnOperationThatStandsForSeveral$",
		File: "framework/multi_all.go", Old: "for _, one := range *op.all {", New: "for _, one := range (*op.all)[:min(1, len(*op.all))] {",
	}, {
		Name: "a check is about the first of several permits", Package: "./recipes/semaphore", Tests: "^TestCheckCoversAllPermits$",
		File: "internal/hold/check.go", Old: "\tif len(h.entry.also) == 0 {\n\t\treturn own\n", New: "\tif true {\n\t\treturn own\n",
	}, {
		Name: "a claim that is given up ends the hold of another owner", Package: several, Tests: "^TestOneOfTheLocksIsHeldAlready$",
		File: "internal/hold/together.go", Old: "case !alone:", New: "case false && alone:",
	}, {
		Name: "the time that CloseGrace gives is not given at the other locks", Package: several, Tests: "^TestOneOfTheClientsIsClosed$",
		File: "internal/hold/together.go", Old: "case h.hold.isClosing():", New: "case false:",
	}, {
		Name: "a request for revocation is heard at the first lock only", Package: several, Tests: "^TestRevocationOfAnyOfTheLocks$",
		File: "internal/hold/several.go", Old: "\tfor _, p := range s.parts {\n\t\ts.stops", New: "\tfor _, p := range s.parts[:1] {\n\t\ts.stops",
	}, {
		Name: "what was joined in one transaction stays when one slot is not free", Package: several, Tests: "^TestNotAllLocksAreFree$",
		File: "internal/acquire/together.go", Old: "\t\tqueue.LeaveTogether(w.ctx, j.positions)\n", New: "",
	}, {
		Name: "what was joined in one transaction is granted although a contender is ahead", Package: several, Tests: "^TestNotAllLocksAreFree$",
		File: "internal/acquire/together.go", Old: "if err := awaitAdmitted(ctx, p, nil, true, nil); err != nil {", New: "if err := awaitAdmitted(ctx, p, nil, true, nil); err != nil && err.Error() != queue.ErrNotFree.Error() {",
	}, {
		Name: "slots that were found free some time ago are granted", Package: several, Tests: "^TestNodeIsDeletedBeforeAllAreListed$",
		File: "internal/acquire/together.go", Old: "if time.Since(j.known) < hold.LookDelay {", New: "if true {",
	}, {
		Name: "a slot is granted for which a quorum was awaited, and nothing watched its node", Package: several, Tests: "^TestNodeIsDeletedWhileRoundTripsAreAwaited$/single",
		File: "internal/acquire/try.go", Old: "err == nil && time.Since(began) > hold.LookDelay {", New: "err == nil && began.IsZero() {",
	}, {
		Name: "the timeout does not bound the wait for a quorum", Package: several, Tests: "^TestTimeoutBoundsTheWaitForRoundTrips$",
		File: "internal/acquire/together.go", Old: "w := r.begin(ctx, Left(j.timeout, j.start))", New: "w := r.begin(ctx, 0*Left(j.timeout, j.start))",
	}, {
		Name: "only the first of several permits is given up with a multi-lock that begins again", Package: sweeps, Tests: "^TestEveryCallFails$/^aMixedMultiLock$",
		File: "internal/hold/release.go", Old: "\t\th.remove()\n\t\tif by == discarded {", New: "\t\tkit.Of(h.client).DeleteInBackground(h.Path())\n\t\tif by == discarded {",
	}, {
		Name: "a transaction is tried although others of the client wait", Package: several, Tests: "^TestOthersOfTheClientWait$",
		File: "internal/queue/together.go", Old: "if p.view.crowd.waits() {", New: "if false {",
	}, {
		Name: "what goes together takes the room that is kept free", Package: several, Tests: "^TestSparedPartStaysFree$",
		File: "framework/choice.go", Old: "s.quota.fits(bytes, len(paths) == 1)", New: "s.quota.fits(bytes, true)",
	}, {
		Name: "the forks of a lost claim are lost with it", Package: several, Tests: "^TestForkWaitsBehindALostMultiLock$",
		File: "internal/hold/together.go", Old: " && h.owner.parent == nil // no", New: " // no",
	}, {
		Name: "what was given up is re-entered", Package: several, Tests: "^TestLostLeaseThatWasEnteredTwice$",
		File: "internal/hold/owner.go", Old: "if claim.over.Given() && claim.isOpen() {", New: "if false {",
	}, {
		Name: "a node that was searched for and is deleted takes room", Package: suites, Tests: "^TestRoomAfterACleanUpWithoutAnAnswer$",
		File: "framework/cleanup.go", Old: "\t\t\t\t\tsession.gone(c.full(node.Path))\n", New: "\t\t\t\t\t_ = session\n",
	}, {
		Name: "nodes of a transaction without an answer are forgotten", Package: several, Tests: "^TestTransactionWithoutAnAnswer$",
		File: "framework/protected_each.go", Old: "\t\t\tlate(nil, Unknown)\n", New: "",
	}, {
		Name: "nodes of a transaction whose caller has left are forgotten", Package: suites, Tests: "^TestMultiLock$/a_create_is_cancelled",
		File: "framework/protected_each.go", Old: "\t\tfor _, p := range each[1:] {\n\t\t\tp.late(nil, outcome)\n\t\t}\n", New: "",
	}, {
		Name: "a transaction that was refused is tried again each time", Package: several, Tests: "^TestNotAllLocksAreFree$",
		File: "recipes/multilock/wait.go", Old: "\t\tl.apart.Store(stayApart)\n", New: "\t\t_ = stayApart\n",
	}, {
		Name: "a lock that was only re-entered is free at once after a loss", Package: several, Tests: "^TestReenteredLockIsKeptAfterALoss$",
		File: "internal/hold/together.go", Old: "h.hold.Session().Go(h.windDown)", New: "_ = h.ReleaseAsync()",
	}, {
		Name: "a lock that was only re-entered is kept after a loss", Package: several, Tests: "^TestReenteredLockIsKeptAfterALoss$",
		File: "internal/hold/together.go", Old: "h.hold.Session().Go(h.windDown)", New: "_ = h.hold",
	}, {
		Name: "a fork that has a lock counts as one that its owner has anyway", Package: several, Tests: "^TestForksInAForeignOrder$",
		File: "internal/hold/together.go", Old: "return h.owner.claims == 1", New: "return h.owner.claims == 1 && h.owner.parent == nil",
	}, {
		Name: "a loss is known of one of several before it is known of all", Package: "./internal/hold", Tests: "^TestLossOfOneOfSeveralIsSeenAtOnce$",
		File: "internal/hold/several.go", Old: "\t\t\ts.lost(i, err) // who has found that out may not have come to that yet\n", New: "\t\t\t_ = i\n",
	}, {
		Name: "the error that observers were given is changed", Package: several, Tests: "^TestErrorsOfObserversStayAsTheyAre$",
		File: "recipes/multilock/wait.go", Old: "\t\tlate, err = &own, &own\n", New: "\t\t_ = own\n",
	}}
}
