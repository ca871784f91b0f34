package faultsweep

// ListingMutants are bugs in what travels together with nodes: listings behind them,
// and parents ahead of them.
func ListingMutants() []Mutant {
	const client = "./framework"
	const listings, parents, queue, flight = "framework/listings.go", "framework/parents.go", "framework/group_queue.go", "framework/flight.go"
	return []Mutant{{
		Name: "listings get each other's answers", Package: client, Tests: "^TestListingsBehindAGroupTravelTogether$",
		File: listings, Old: "each[i] = guard.Answer{", New: "each[len(each)-1-i] = guard.Answer{",
	}, {
		Name: "listings are not read to their end", Package: client, Tests: "^TestListingsOfSeveralNodes$",
		File: listings, Old: "\t\t\t\td.Buffer()\n", New: "\t\t\t\td.Buffer()\n\t\t\t\tbreak\n",
	}, {
		Name: "listings wait for ever", Package: client, Tests: "^TestListingsBehindAGroupTravelTogether$",
		File: listings, Old: "g.following--", New: "",
	}, {
		Name: "a listing that was refused has everybody ask again", Package: client, Tests: "^TestListingsThatAreRefusedOneByOne$",
		File: listings, Old: "if each[i].Code = d.Int32(); each[i].Code == 0 {", New: "if each[i].Code = d.Int32(); true {",
	}, {
		Name: "listings that an answer does not show are empty", Package: client, Tests: "^TestAnswersThatShowNotAllListings$",
		File: listings, Old: "\t\tcase h.Done:\n\t\t\treturn nil\n", New: "",
	}, {
		Name: "a listing that fails without a cause is empty", Package: client, Tests: "^TestAnswersThatShowNotAllListings$",
		File: listings, Old: "each[i].Code == 0 {", New: "false {",
	}, {
		Name: "listings that were refused together are lost", Package: client, Tests: "^TestListingsThatAreRefusedTogether$",
		File: listings, Old: "\t\tf.repeat()\n\t}\n}\n\n// learn", New: "\t}\n}\n\n// learn",
	}, {
		Name: "listings that are too large together count as empty", Package: client, Tests: "^TestListingsOfSeveralNodes$",
		File: listings, Old: "if a.Err != nil || a.Code != 0 {\n\t\treturn nil\n\t}", New: "if a.Err != nil || a.Code != 0 {\n\t\treturn make([]guard.Answer, len(f.members))\n\t}",
	}, {
		Name: "an old server is asked again and again to list together", Package: client, Tests: "^TestOldServersAreAskedOnceToListTogether$",
		File: listings, Old: "g.hangUps.Store(maxHangUps)", New: "",
	}, {
		Name: "a server that hangs up is asked again and again to list together", Package: client, Tests: "^TestServersThatHangUpWhenAskedToListTogether$",
		File: listings, Old: "g.hangUps.Add(1)", New: "",
	}, {
		Name: "each break counts against listings that travel together", Package: client, Tests: "^TestServersThatHangUpWhenAskedToListTogether$",
		File: listings, Old: "g.hangUps.Store(0)", New: "",
	}, {
		Name: "each request of one connection counts as one that broke", Package: client, Tests: "^TestBreakCountsOnceAgainstListings$",
		File: listings, Old: "\t\tg.hungUp = true\n", New: "",
	}, {
		Name: "listings that were not sent are lost", Package: client, Tests: "^TestListingsThatLoseTheirConnection$",
		File: listings, Old: "\t\t\tf.giveBack()\n", New: "",
	}, {
		Name: "the result of a parent is not read to its end", Package: client, Tests: "^TestParentsTravelWithTheirNodes$",
		File: flight, Old: "\t\t\td.Stat()\n", New: "",
	}, {
		Name: "a node waits for the answer to the group of its parent", Package: client, Tests: "^TestParentsTravelWithTheirNodes$",
		File: queue, Old: "\t\tm.Sent() // creates", New: "\t\t// creates",
	}, {
		Name: "a parent that is there keeps its path out of groups", Package: client, Tests: "^TestParentThatIsThereInAGroup$",
		File: flight, Old: "ErrNoNode, ErrNodeExists) {", New: "ErrNoNode) {",
	}, {
		Name: "what waits for a parent goes ahead of it", Package: client, Tests: "^TestParentThatWaitsGoesAheadOfItsNodes$",
		File: "framework/groups.go", Old: "g.sendAlone(ahead, first)", New: "g.sendAlone(first, ahead)",
	}, {
		Name: "a node passes a parent that is about to be sent", Package: client, Tests: "^TestNodesDoNotPassTheirParent$",
		File: "framework/groups.go", Old: "(code == guard.OpDelete || ahead == nil) && g.departs", New: "g.departs",
	}, {
		Name: "a parent is waited for when it is sent", Package: client, Tests: "^TestParentThatIsThereInAGroup$",
		File: queue, Old: "\t\tg.placed(m)\n\t}\n\tif !sent", New: "\t\t_ = m\n\t}\n\tif !sent",
	}, {
		Name: "a parent counts as ahead when its caller has left", Package: client, Tests: "^TestNodesDoNotPassTheirParent$",
		File: queue, Old: "\tif found {\n\t\tg.placed(m)\n\t}\n", New: "",
	}, {
		Name: "the result of a parent has no room", Package: client, Tests: "^TestParentsHaveRoomForTheirResults$",
		File: flight, Old: "bytes += statBytes //", New: "//",
	}, {
		Name: "a parent below a missing one has groups refused", Package: client, Tests: "^TestParentsThatHaveGroupsRefused$",
		File: parents, Old: "all.shorten(0)", New: "",
	}, {
		Name: "what nobody makes has groups refused", Package: client, Tests: "^TestParentsThatHaveGroupsRefused$",
		File: parents, Old: "!known && guess && p.streak", New: "!known && p.streak",
	}, {
		Name: "a break is a streak", Package: client, Tests: "^TestBreakMakesNoStreak$",
		File: parents, Old: "all.shorten(-1) //", New: "all.found(true) //",
	}, {
		Name: "all parents travel together that are not known", Package: client, Tests: "^TestParentsOfAShortStreakTravelAlone$",
		File: parents, Old: "joins: p.streak == longStreak", New: "joins: true",
	}, {
		Name: "nodes of parents that were there travel alone", Package: client, Tests: "^TestNodesOfParentsThatAreThereForSure$",
		File: parents, Old: "return parent\n\t\t}\n\t}\n\treturn \"\"", New: "if known {\n\t\t\t\treturn parent\n\t\t\t}\n\t\t}\n\t}\n\treturn \"\"",
	}, {
		Name: "parents that were there are not counted", Package: client, Tests: "^TestNodesOfParentsThatAreThereForSure$",
		File: parents, Old: "\t\t\tall.found(err == nil)\n", New: "",
	}, {
		Name: "a streak goes on when it ends", Package: client, Tests: "CostOfParents",
		File: parents, Old: "p.streak = max(min(p.streak, 0)-1, -longStreak)", New: "p.streak = max(p.streak-1, -longStreak)",
	}}
}
