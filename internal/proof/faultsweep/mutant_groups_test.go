package faultsweep

// GroupMutants are bugs in how creates and deletes travel together.
func GroupMutants() []Mutant {
	const client = "./framework"
	return []Mutant{{
		Name: "the last member of a group gets no answer", Package: client, Tests: "^TestWhatComesWhileOthersAreUnderWayTravelsTogether$",
		File: "framework/flight.go", Old: "for i, m := range f.members {\n\t\tm.Answered(each[i])", New: "for i, m := range f.members[1:] {\n\t\tm.Answered(each[i])",
	}, {
		Name: "the members of a group get each other's answers", Package: client, Tests: "^TestWhatComesWhileOthersAreUnderWayTravelsTogether$",
		File: "framework/flight.go", Old: "m.Answered(each[i])", New: "m.Answered(each[len(each)-1-i])",
	}, {
		Name: "two creates of one parent are in one group", Package: client, Tests: "^TestCreatesOfOneParentDoNotTravelTogether$",
		File: "framework/groups.go", Old: "code == guard.OpCreate && first != nil,", New: "false,",
	}, {
		Name: "a group that is refused is not repeated", Package: client, Tests: "^TestRefusedGroupIsRepeatedAlone$",
		File: "framework/flight.go", Old: "f.of.aloneOrBack(m)", New: "_ = m",
	}, {
		Name: "all members are refused because of one", Package: client, Tests: "^TestRefusedGroupIsRepeatedAlone$",
		File: "framework/flight.go", Old: "if !isOfOne(failed.Code) {", New: "if true {",
	}, {
		Name: "a member of a group of unknown outcome is repeated", Package: client, Tests: "^TestGroupOfUnknownOutcome$",
		File: "framework/flight.go", Old: "if a.Err != nil || a.Code != 0 {", New: "if a.Err != nil {\n\t\treturn nil, f.members[0]\n\t}\n\tif a.Code != 0 {",
	}, {
		Name: "what was not sent when the connection broke is lost", Package: client, Tests: "^TestQueueSurvivesItsConnection$",
		File: "framework/group_queue.go", Old: "\t\t\tf.giveBack()\n", New: "",
	}, {
		Name: "what was not sent when the connection broke is unknown", Package: client, Tests: "^TestQueueSurvivesItsConnection$",
		File: "framework/flight.go", Old: "\t\tm.giveBack()\n", New: "\t\tm.Answered(guard.Answer{Err: guard.ErrConnectionClosed})\n",
	}, {
		Name: "a caller that has left is in a group", Package: client, Tests: "^TestCallerThatLeavesTheQueue$",
		File: "framework/group_queue.go", Old: "found := g.remove(m)", New: "found := false && g.remove(m)",
	}, {
		Name: "a caller that has left the queue keeps its bytes", Package: client, Tests: "^TestCallerThatLeavesTheQueue$",
		File: "framework/attempt.go", Old: "\tif c.over.withdraw(c) {\n\t\t_, _ = c.attempt.finish(guard.Answer{}, guard.ErrConnectionClosed)\n", New: "\tif c.over.withdraw(c) {\n",
	}, {
		Name: "what is queued waits as long as others", Package: client, Tests: "^TestNobodyWaitsLongInTheQueue$",
		File: "framework/group_queue.go", Old: "g.timer = time.AfterFunc(queueLimit,", New: "g.timer = time.AfterFunc(time.Hour,",
	}, {
		Name: "a path where deletes are refused stays in groups", Package: client, Tests: "^TestPathThatIsRefusedStaysApart$",
		File: "framework/flight.go", Old: "g.apart[parent] = true", New: "",
	}, {
		Name: "deletes go first each time", Package: client, Tests: "^TestDeletesPassCreatesOnce$",
		File: "framework/group_queue.go", Old: "g.passed = !g.passed && len(g.creates) > 0", New: "",
	}, {
		Name: "a release that is handed over joins a group", Package: client, Tests: "^TestReleaseThatIsHandedOverTravelsAlone$",
		File: "framework/releases.go", Old: "\tif r.session.releases.add(r) {\n\t\ta.placed = r.tell\n\t}", New: "\ta.joins = parentOf(path)\n\tif r.session.releases.add(r) {\n\t\ta.placed = r.tell\n\t}",
	}, {
		Name: "a group is larger than a request may be", Package: client, Tests: "^TestGroupsAreNotTooLarge$",
		File: "framework/flight.go", Old: "guard.HeaderBytes+bytes+groupEnd > f.of.limit &&", New: "false &&",
	}, {
		Name: "what may be missing joins a group", Package: client, Tests: "^TestPathsThatAreNotKnownStayOut$",
		File: "framework/parents.go", Old: "!known && guess && p.streak == -longStreak", New: "!known && guess",
	}, {
		Name: "a create of a caller that has left has a listing behind it", Package: "./internal/queue", Tests: "^TestNoListingForACallerThatHasLeft$",
		File: "internal/queue/position.go", Old: "if p.ended {", New: "if false {",
	}, {
		Name: "a release that does not wait is lost with the queue", Package: "./framework", Tests: "TestReleasesAtOnceSurviveTheirConnection",
		File: "framework/at_once.go", Old: "r.Answered(guard.Answer{Err: guard.ErrConnectionClosed}) }", New: "r.Answered(guard.Answer{}) }",
	}}
}
