package faultsweep

// CrowdMutants are bugs in what only the front of a crowd does.
func CrowdMutants() []Mutant {
	const wakes = "c.behind[0].notify()"
	return []Mutant{{
		Name: "who comes to the front is not woken", Package: waits, Tests: "TestWaitsBehindTheFrontThatEndEarly",
		File: "internal/queue/crowd.go", Old: wakes, New: "",
	}, {
		Name: "who comes to the front is not woken, seen in histories", Package: histories, Tests: "TestHandOver/mutex",
		File: "internal/queue/crowd.go", Old: wakes, New: "",
	}, {
		Name: "those behind the front list", Package: waits, Tests: "TestOnlyTheFrontTakesPart",
		File: "internal/queue/position.go", Old: "if p.queue.HandsOver == nil || !v.crowd.isFull() {", New: "if true {",
	}, {
		Name: "a listing that is trimmed evicts", Package: waits, Tests: "TestListingOfACrowdIsTrimmed",
		File: "internal/queue/admission.go", Old: " && v.shows(p.self)", New: "",
	}, {
		Name: "a listing is not trimmed", Package: waits, Tests: "TestListingOfACrowdIsTrimmed",
		File: "internal/queue/listing.go", Old: "\tv.trim()\n", New: "\tv.size, v.end = len(v.names), znode.Name{}\n",
	}, {
		Name: "a listing is not kept for those who want it", Package: waits, Tests: "TestListingShowsThoseWhoWantIt",
		File: "internal/queue/listing.go", Old: "if p.answered > 0 && end.Before(p.self) {", New: "if false {",
	}, {
		Name: "who stood behind is admitted by an old listing", Package: waits, Tests: "TestWhoStoodBehindIsWatched",
		File: "internal/queue/admission.go", Old: "!p.stoodBehind && ", New: "",
	}, {
		Name: "those behind do not notice the end of their session", Package: waits, Tests: "TestFurtherSessionThatEndsBehindTheFront",
		File: "internal/queue/behind.go", Old: "v.crowd.wakeBehind()", New: "_ = v",
	}, {
		Name: "readers keep others behind the front", Package: waits, Tests: "TestReadersAtTheFront",
		File: "internal/queue/crowd.go", Old: "if !p.HandsOver() {", New: "if false {",
	}, {
		Name: "each session has a front of its own", Package: waits, Tests: "TestCrowdOfSeveralSessions",
		File: "internal/queue/crowd.go", Old: "Kept(nil, crowdsKey{}", New: "Kept(client.Session(), crowdsKey{}",
	}, {
		Name: "all of a crowd join at once", Package: waits, Tests: "TestJoinsOfACrowdTakeTurns",
		File: "internal/queue/joining.go", Old: "const maxJoins = 256", New: "const maxJoins = 100_000",
	}, {
		Name: "the error of a wait behind the front does not name the holder", Package: waits, Tests: "TestWaitsBehindTheFrontThatEndEarly",
		File: "internal/queue/behind.go", Old: "head = v.names[0].Node", New: "head = \"\"",
	}, {
		Name: "the error of a wait behind the front counts its own client only", Package: waits, Tests: "TestWaitsBehindTheFrontThatEndEarly",
		File: "internal/queue/crowd.go", Old: "if shown := c.waiting[own-n-1].ahead; shown >= 0 {", New: "if shown := c.waiting[own-n-1].ahead; shown > 1000 {",
	}, {
		Name: "what a listing has shown of a crowd is looked for in a part of it", Package: waits, Tests: "TestCrowdCountsThoseAhead",
		File: "internal/queue/crowd.go", Old: "find(c.waiting, c.shown+1)", New: "find(c.waiting, c.shown)",
	}, {
		Name: "a crowd forgets what a listing has shown", Package: waits, Tests: "TestWaitsBehindTheFrontThatEndEarly",
		File: "internal/queue/crowd.go", Old: "c.shown = max(c.shown, p.token)", New: "_ = p.token",
	}, {
		Name: "a long queue is listed rather than read", Package: waits, Tests: "TestALongQueueIsReadRatherThanListed",
		File: "internal/queue/lookahead.go", Old: "max(fewReads, v.size/namesPerRead)", New: "max(fewReads, at/namesPerRead)",
	}, {
		Name: "permits stand behind", Package: waits, Tests: "TestPermitsDoNotStandBehind",
		File: "internal/queue/behind.go", Old: "p.queue.HandsOver == nil || ", New: "",
	}, {
		Name: "a queue that is too long takes newcomers behind the front", Package: waits, Tests: "TestQueueIsTooLongBehindTheFront",
		File: "internal/queue/joining.go", Old: "bytes <= limit-limit/16", New: "true",
	}, {
		Name: "creates under way do not count for the length of a queue", Package: waits, Tests: "TestQueueIsTooLongBehindTheFront",
		File: "internal/queue/joining.go", Old: "n += underWay", New: "n += min(underWay, 1)",
	}, {
		Name: "a node that a listing does not show any more takes room", Package: waits, Tests: "TestNodeThatIsDeletedBehindTheFrontMakesRoom",
		File: "internal/queue/leave.go", Old: "kit.Of(p.client).Gone(p.path)", New: "_ = p",
	}, {
		Name: "a crowd takes the room that is kept free", Package: waits, Tests: "TestCrowdLeavesRoomInItsSession$",
		File: "internal/queue/joining.go", Old: "if !kit.Of(p.queue.Client).HasRoom(p.session, p.queue.Path) {", New: "if false {",
	}, {
		Name: "waits that end confuse those that Close ends", Package: waits, Tests: "TestCloseEndsWaitsBehindTheFront",
		File: "framework/closing.go", Old: "c.listeners[l.Index], last.Index = last, l.Index", New: "c.listeners[l.Index] = last",
	}}
}
