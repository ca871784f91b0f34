package faultsweep

// FrameworkHandOverMutants are bugs in how the framework keeps the deletes of slots
// that are over ahead of all else, and in checks that are known to fail.
func FrameworkHandOverMutants() []Mutant {
	const client = "./framework"
	return []Mutant{{
		Name: "a release is unconfirmed only when it was sent", Package: client, Tests: "^TestReleaseIsUnconfirmedBeforeItIsSent$",
		File: "framework/releases.go", Old: "\tif r.session.releases.add(r) {\n\t\ta.placed = r.tell\n\t}",
		New: "\ta.placed = func(down *signal.Signal) {\n\t\tif r.session.releases.add(r) {\n\t\t\tr.tell(down)\n\t\t}\n\t}",
	}, {
		Name: "a release is told before it is sent", Package: client, Tests: "^TestReleaseTellsBeforeTheAnswer$",
		File: "framework/releases.go", Old: "\tif r.session.releases.add(r) {\n\t\ta.placed = r.tell\n\t}",
		New: "\tif r.session.releases.add(r) {\n\t\t_, down := r.session.gate.signals()\n\t\tr.tell(down)\n\t}",
	}, {
		Name: "a release is told when it is answered", Package: client, Tests: "^TestReleaseTellsBeforeTheAnswer$",
		File: "framework/releases.go", Old: "\tr.session.deleteAnswered(r.path, err)\n\tif errors.Is(err, ErrNoNode) &&",
		New: "\t_, down := r.session.gate.signals()\n\tr.tell(down)\n\tr.session.deleteAnswered(r.path, err)\n\tif errors.Is(err, ErrNoNode) &&",
	}, {
		Name: "a release is told with the connection of that moment", Package: client, Tests: "^TestReleaseTellsOfItsOwnConnection$",
		File: "framework/releases.go", Old: "\ts.deletions.over(r.path, down.Done())\n", New: "\t_, down = s.gate.signals()\n\ts.deletions.over(r.path, down.Done())\n",
	}, {
		Name: "releases are not sent again", Package: client, Tests: "^TestReleasesAreSentAgainBeforeAnythingElse$",
		File: "framework/gate.go", Old: "g.session.releases.resend(c)\n", New: "",
	}, {
		Name: "releases are sent again when the gate is open", Package: client, Tests: "^TestReleasesAreSentAgainBeforeAnythingElse$",
		File: "framework/gate.go", Old: "\t\t\tg.session.releases.resend(c)\n\t\t\tg.conn = c\n\t\t\tg.first.Give()\n\t\t}\n\t})\n",
		New: "\t\t\tg.conn = c\n\t\t\tg.first.Give()\n\t\t}\n\t})\n\tlater, stop := context.WithTimeout(context.Background(), 1e6)\n\t<-later.Done()\n\tstop()\n\tg.session.releases.resend(c)\n",
	}, {
		Name: "releases are sent again in the wrong order", Package: client, Tests: "^TestReleasesAreSentAgainBeforeAnythingElse$",
		File: "framework/releases.go", Old: "\tall.mu.Unlock()\n\tfor _, r := range again {", New: "\tall.mu.Unlock()\n\tslices.Reverse(again)\n\tfor _, r := range again {",
	}, {
		Name: "releases are sent again once", Package: client, Tests: "^TestReleaseWhoseConnectionBreaks$/^twice",
		File: "framework/releases.go", Old: "if r.refused == nil {\n", New: "if r.refused == nil && r.resent == 0 {\n",
	}, {
		Name: "what is sent again is not known when it is answered", Package: client, Tests: "^TestReleasesSentAgainNeedNoSlot$",
		File: "framework/releases.go", Old: "\toutcome, err := outcomeOf(a)\n\tr.session.deleteAnswered(r.path, err)\n", New: "\toutcome, err := outcomeOf(a)\n",
	}, {
		Name: "a release that has deleted its node twice finds it deleted by another client", Package: client, Tests: "^(TestReleaseThatIsRepeatedAfterABreak|TestReleaseThatComesTooLateForAConnection)$",
		File: "framework/releases.go", Old: "if errors.Is(err, ErrNoNode) && r.session.releases.wasResent(r) {", New: "if false {",
	}, {
		Name: "a release is confirmed by its answer only", Package: client, Tests: "^TestReleaseIsConfirmedByAnEvent$",
		File: "framework/session.go", Old: "\t\ts.gone(path) // also if another client deleted it\n", New: "\t\ts.quota.gone(path)\n\t\ts.deletions.of(path)\n",
	}, {
		Name: "a release that is repeated is confirmed", Package: client, Tests: "^TestReleaseThatIsRepeated$",
		File: "framework/releases.go", Old: "\tcase refused(err):\n", New: "\tcase refused(err), isAny(err, ErrThrottled, errMoved):\n",
	}, {
		Name: "a release that is refused is sent again", Package: client, Tests: "^TestReleaseThatIsRefused",
		File: "framework/releases.go", Old: "if r.refused == nil {\n", New: "if true {\n",
	}, {
		Name: "a refusal is told before what it refuses", Package: client, Tests: "^TestReleaseThatIsRefused$",
		File: "framework/releases.go", Old: "tell = !r.telling", New: "tell = true",
	}, {
		Name: "releases that are unconfirmed are not limited", Package: client, Tests: "^TestReleasesThatAreUnconfirmedAreLimited$",
		File: "framework/releases.go", Old: "case len(all.unconfirmed) == maxUnconfirmed:", New: "case false:",
	}, {
		Name: "the wait for releases does not end with the session", Package: client, Tests: "^TestReleasesEndWithTheSession$",
		File: "framework/releases.go", Old: "\tcase <-r.session.ctx.Done():\n\t\treturn context.Cause(r.session.ctx)\n", New: "\tcase <-r.session.ctx.Done():\n\t\treturn nil\n",
	}, {
		Name: "a check that is known to fail is looked at once", Package: client, Tests: "^TestMultiWhoseCheckIsKnownToFail",
		File: "framework/multi.go", Old: "\tif err := refuseHere(ops); err != nil {\n\t\treturn a, err\n\t}\n",
		New: "\terr = refuseHere(ops)\n\tfor i := range ops {\n\t\tops[i].unless = nil\n\t}\n\tif err != nil {\n\t\treturn a, err\n\t}\n",
	}, {
		Name: "a check that is known to fail is looked at before there is a connection", Package: client, Tests: "^TestMultiWhoseCheckIsKnownToFailWhenThereIsAConnection$",
		File: "framework/multi.go", Old: "\tv, err := do(ctx, c, r)\n", New: "\tif err := refuseHere(ops); err != nil {\n\t\treturn 0, nil, err\n\t}\n\tfor i := range ops {\n\t\tops[i].unless = nil\n\t}\n\tv, err := do(ctx, c, r)\n",
	}, {
		Name: "a check that is known to fail is repeated", Package: client, Tests: "^TestConditionOfACheck$",
		File: "framework/outcome.go", Old: "case c.endedBy(err), isRefusedHere(err):", New: "case c.endedBy(err):",
	}, {
		Name: "an event settles what is to be sent again", Package: client, Tests: "TestReleaseIsSentAgainAfterTheEvent",
		File: "framework/deletions.go", Old: "s.releases.deleted(path)", New: "s.releases.answered(path)",
	}, {
		Name: "a refused delete is as good as a deletion", Package: client, Tests: "TestReleaseThatIsRefused",
		File: "framework/releases.go", Old: "r.refused = why", New: "r.refused = nil",
	}, {
		Name: "a refusal outlives the node", Package: client, Tests: "TestRefusedReleaseWhoseNodeIsDeleted",
		File: "framework/releases.go", Old: "\t\tr.refused = nil\n", New: "",
	}, {
		Name: "a deletion is told by the event and by the answer", Package: client, Tests: "TestReleaseTellsOfADeletionOnce",
		File: "framework/releases.go", Old: "if !s.releases.answered(path) {", New: "if s.releases.answered(path); true {",
	}}
}
