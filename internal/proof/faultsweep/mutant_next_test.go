package faultsweep

// NextMutants are bugs in how a candidate is made the next leader.
func NextMutants() []Mutant {
	const (
		next     = "recipes/leader/next.go"
		marks    = "internal/znode/step_back.go"
		admitted = "internal/queue/admission.go"
		names    = "./internal/znode"
		sweep    = "^(TestEveryCallOfMakeNextFails|TestMakeNextUnderRandomFaults)$"
		history  = "^TestMakeNext$"
	)
	return []Mutant{{
		Name: "candidates step back for one that has left", Package: elections, Tests: "^TestNextWhenTheNamedOneHasLeft$",
		File: next, Old: "framework.CheckOp(named.Path, ", New: "framework.CheckOp(e.path+named.Path[:0], ",
	}, {
		Name: "a request to step back overwrites another write", Package: elections, Tests: "^TestNextKeepsAConcurrentRequestForRevocation$",
		File: next, Old: "marked, c.Version)", New: "marked, framework.AnyVersion)",
	}, {
		Name: "the leader is asked to step back as well", Package: sweeps, Tests: sweep,
		File: next, Old: "return head, behind[:at], behind[at], nil", New: "return head, all[:at+1], behind[at], nil",
	}, {
		Name: "an unknown outcome of the request to step back ends MakeNext", Package: sweeps, Tests: sweep,
		File: next, Old: ", framework.ErrBadVersion, framework.ErrUnknownOutcome}", New: ", framework.ErrBadVersion}",
	}, {
		Name: "a candidate that has changed ends MakeNext", Package: elections, Tests: "^TestNextKeepsAConcurrentRequestForRevocation$",
		File: next, Old: "framework.ErrBadVersion, framework.ErrUnknownOutcome}", New: "framework.ErrUnknownOutcome}",
	}, {
		Name: "one that has to step back itself is the next leader", Package: elections, Tests: "^TestNextWasAskedItself$",
		File: next, Old: " && !znode.StepBackRequested(c.Data)", New: "",
	}, {
		Name: "one that has to step back itself is the next leader, seen in histories", Package: histories, Tests: history,
		File: next, Old: " && !znode.StepBackRequested(c.Data)", New: "",
	}, {
		Name: "MakeNext returns without another look", Package: sweeps, Tests: sweep,
		File: next, Old: "err = unlessChanged(e.stepBack(ctx, head, between, named))\n", New: "if err = unlessChanged(e.stepBack(ctx, head, between, named)); err == nil {\nreturn head.Contender, nil\n}\n",
	}, {
		Name: "MakeNext returns without another look, seen in histories", Package: histories, Tests: history,
		File: next, Old: "err = unlessChanged(e.stepBack(ctx, head, between, named))\n", New: "if err = unlessChanged(e.stepBack(ctx, head, between, named)); err == nil {\nreturn head.Contender, nil\n}\n",
	}, {
		Name: "MakeNext waits for a candidate that leads meanwhile", Package: elections, Tests: "^TestNextWhileOneThatIsNotNotifiedLeads$",
		File: next, Old: "case <-events[0]:", New: "case <-(chan struct{})(nil):",
	}, {
		Name: "MakeNext does not see that the named candidate leaves", Package: elections, Tests: "^TestNextWhileTheNamedOneLeaves$",
		File: next, Old: "case <-events[1]:", New: "case <-(chan struct{})(nil):",
	}, {
		Name: "MakeNext needs each event", Package: elections, Tests: "^TestNextWithoutAnEvent$",
		File: next, Old: "case <-look.C:", New: "case <-(chan struct{})(nil):",
	}, {
		Name: "MakeNext believes a server that is behind", Package: elections, Tests: "^TestNextAtALaggingServer$",
		File: "internal/queue/contenders.go", Old: "if err := q.CatchUp(ctx); err != nil {", New: "if err := ctx.Err(); err != nil {",
	}, {
		Name: "the leader hides a candidate with its id", Package: elections, Tests: "^TestNextWithTheIDOfTheLeader$",
		File: next, Old: "case at >= 0:", New: "case at >= 0 && !has(head):",
	}, {
		Name: "a candidate of another library is asked to step back", Package: elections, Tests: "^TestNextDoesNotPassALatchOfCurator$",
		File: "internal/protection/protection.go", Old: "return ok && id[versionAt] == version", New: "return ok && id[versionAt] != 0",
	}, {
		Name: "one that has to step back itself is no candidate", Package: elections, Tests: "^TestNextWasAskedItself$",
		File: next, Old: "case slices.ContainsFunc(behind, has):", New: "case len(behind) < 0:",
	}, {
		Name: "a request that is overwritten is waited for", Package: elections, Tests: "^TestNextWhenTheMarkIsOverwrittenAtOnce$",
		File: next, Old: "c == last && !znode.StepBackRequested(data), ", New: "data == nil, ",
	}, {
		Name: "a client that is closed while a candidate steps back does not say so", Package: elections, Tests: "^TestClosedWhileSteppingBack$",
		File: "internal/acquire/wait.go", Old: "case errors.Is(err, queue.ErrSteppedBack):", New: "case w.ctx.Err() == nil && errors.Is(err, queue.ErrSteppedBack):",
	}, {
		Name: "a candidate of another library passes others", Package: elections, Tests: "^TestNextDoesNotPassALatchOfCurator$",
		File: next, Old: "range append(slices.Clone(between), named)", New: "range between",
	}, {
		Name: "revocation is requested ahead of a latch of Curator", Package: elections, Tests: "^TestRevocationAheadOfALatchOfCurator$",
		File: "internal/znode/foreign.go", Old: "protection.IsOurs(all[at+1].Node)", New: "all[at+1].Kind == Latch",
	}, {
		Name: "all candidates are asked in one transaction", Package: elections, Tests: "^TestNextWithLongIDs$",
		File: next, Old: "size < maxAsked;", New: "size < 1000*maxAsked;",
	}, {
		Name: "what others have read of the own node is not looked at", Package: waits, Tests: "^TestOwnNodeThatAnotherPositionHasRead$",
		File: admitted, Old: "if p.node.watch == watched { // for another position", New: "if p.evicted {",
	}, {
		Name: "a candidate that steps back forgets that it was revoked", Package: elections, Tests: "^TestNextKeepsARequestForRevocation$",
		File: "internal/acquire/try.go", Old: "p.RevocationRequested() || t.wait.revoked", New: "p.RevocationRequested()",
	}, {
		Name: "a step back is a failure", Package: elections, Tests: "^TestNextIsNoFailureOfTheWait$",
		File: "internal/acquire/wait.go", Old: "case errors.Is(err, queue.ErrSteppedBack):", New: "case errors.Is(err, queue.ErrSteppedBack):\n\t\t\tw.failed = err",
	}, {
		Name: "a candidate at the head steps back", Package: elections, Tests: "^TestNextDoesNotPassALockDelayTwice$",
		File: admitted, Old: "\tcase len(wait) == 0:\n", New: "\tcase p.stepsBack:\n\t\treturn false, ErrSteppedBack\n\tcase len(wait) == 0:\n",
	}, {
		Name: "a waiter is not woken to step back", Package: sweeps, Tests: sweep,
		File: admitted, Old: "znode.StepBackRequested(data); p.stepsBack {", New: "znode.StepBackRequested(data); p.evicted {",
	}, {
		Name: "a waiter is not woken to step back, seen in histories", Package: histories, Tests: history,
		File: admitted, Old: "znode.StepBackRequested(data); p.stepsBack {", New: "znode.StepBackRequested(data); p.evicted {",
	}, {
		Name: "waiters of all recipes step back", Package: suites, Tests: "^TestMutex$/^a_waiter_and_a_holder_are_asked_to_step_back$",
		File: admitted, Old: "p.self.Kind == znode.Latch && znode.StepBackRequested", New: "znode.StepBackRequested",
	}, {
		Name: "a candidate that has stepped back does not join again", Package: sweeps, Tests: sweep,
		File: "internal/acquire/wait.go", Old: "case errors.Is(err, queue.ErrSteppedBack):", New: "case err == nil:",
	}, {
		Name: "a candidate steps back and leaves its node", Package: sweeps, Tests: sweep,
		File: "internal/acquire/try.go", Old: "\t\tt.GiveUp(p)\n\t\tif errors.Is(", New: "\t\tif !errors.Is(err, queue.ErrSteppedBack) {\n\t\t\tt.GiveUp(p)\n\t\t}\n\t\tif errors.Is(",
	}, {
		Name: "a request for revocation hides that to step back", Package: names, Tests: "^TestMarksOfACandidate$",
		File: marks, Old: "\tdata, _ = cutMark(data, revokeMark)\n\treturn bytes", New: "\treturn bytes",
	}, {
		Name: "a request to step back takes that for revocation away", Package: names, Tests: "^TestMarksOfACandidate$",
		File: marks, Old: "if revoked {", New: "if revoked && id == nil {",
	}, {
		Name: "the id of a candidate includes the request to step back", Package: names, Tests: "^TestMarksOfACandidate$",
		File: "internal/znode/revocation.go", Old: "data, _ = cutMark(data, stepBackMark)", New: "data, _ = cutMark(data, revokeMark)",
	}, {
		Name: "the id of a candidate loses its last line break", Package: names, Tests: "^TestMarksOfACandidate$",
		File: marks, Old: `bytes.TrimSuffix(rest, []byte("\n"))`, New: `bytes.TrimRight(rest, "\n")`,
	}, {
		Name: "a request to step back changes the data that were read", Package: names, Tests: "^TestMarkingCopiesTheData$",
		File: marks, Old: `slices.Concat(id, []byte("\n"+stepBackMark))`, New: `append(id, "\n"+stepBackMark...)`,
	}}
}
