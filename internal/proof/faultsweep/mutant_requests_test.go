package faultsweep

// RequestMutants are bugs in how requests wait for their answers, and in the goroutines
// of a session.
func RequestMutants() []Mutant {
	const (
		client = "./framework"
		waited = "^TestNothingStartsOnceTasksAreWaitedFor$"
	)
	return []Mutant{{
		Name: "a task starts after its session was waited for", Package: client, Tests: waited,
		File: "framework/tasks.go", Old: "t.closed = true", New: "",
	}, {
		Name: "what was sent behind a create has no place yet", Package: client, Tests: "^TestEveryAttemptOfACreateIsToldOf$",
		File: "framework/attempt.go", Old: "if err == nil && c.over.send(c) {", New: "if err == nil {\n\t\t\t\tc.attempt.follow(c.over.down)\n\t\t\t\tc.attempt.behind = nil\n\t\t\t}\n\t\t\tif err == nil && c.over.send(c) {",
	}, {
		Name: "a listing is sent before the create", Package: client, Tests: "^TestAListingBehindSeveralCreates$",
		File: "framework/create.go", Old: "a.sent, a.behind = o.onSent, o.behind", New: "if a.behind = o.behind; o.onSent != nil {\n\t\to.onSent()\n\t\ttime.Sleep(time.Millisecond)\n\t}",
	}, {
		Name: "a read that is not sent keeps its slot", Package: client, Tests: "^TestReadAtOnceThatComesTooLateForItsConnection$",
		File: "framework/at_once.go", Old: "\t_, _ = r.attempt.finish(guard.Answer{}, guard.ErrConnectionClosed)\n\t<-s.slots\n", New: "\t_, _ = r.attempt.finish(guard.Answer{}, guard.ErrConnectionClosed)\n",
	}, {
		Name: "a read whose answer came keeps its slot", Package: client, Tests: "^TestReadsAtOnceDoNotWait$",
		File: "framework/at_once.go", Old: "v, outcome, err := r.attempt.read(a)\n\t<-s.slots", New: "v, outcome, err := r.attempt.read(a)",
	}, {
		Name: "a read whose answer says that the session has expired leaves it", Package: client, Tests: "^TestReadsAtOnceAreNotRepeated$",
		File: "framework/at_once.go", Old: "\ts.endIfExpired(err)\n", New: "",
	}, {
		Name: "a read that is stopped notifies", Package: client, Tests: "^TestReadsAtOnce$",
		File: "framework/watch_notify.go", Old: "n.over.Store(true)\n\town.drop()", New: "_ = own",
	}, {
		Name: "requests are answered where Err is called", Package: client, Tests: "^TestErrCallsNoObserver$",
		File: "framework/session.go", Old: "Ended: s.over,", New: "Ended: func(err error) { s.over(err); s.guard.Seal() },",
	}, {
		Name: "a late answer reaches another caller", Package: client, Tests: "^TestALateAnswerReachesNoOtherRequest$",
		File: "framework/attempt.go", Old: "if c.decided.CompareAndSwap(false, true) {\n\t\treturn true, why", New: "if c.session.answers.give(c.answer); true {\n\t\treturn true, why",
	}, {
		Name: "a caller that has left its create searches for the node as well", Package: client, Tests: "^TestACrowdThatLeavesMakesNoSearch$",
		File: "framework/protected.go", Old: "errors.As(err, &left)", New: "errors.As(err, &left) && outcome == Failed",
	}, {
		Name: "a node that is made late stays", Package: client, Tests: "^TestACrowdThatLeavesMakesNoSearch$",
		File: "framework/protected.go", Old: "_, path := range made {", New: "_, path := range made[:0] {",
	}, {
		Name: "a late answer hides that an earlier attempt was carried out", Package: client, Tests: "AnswerThatComesLate",
		File: "framework/protected.go", Old: "p.pauses != nil || !p.mode.ephemeral()", New: "!p.mode.ephemeral()",
	}, {
		Name: "a node that outlives its session is only searched for", Package: client, Tests: "AnsweredLateWhileTheClientIsClosed",
		File: "framework/protected.go", Old: "case outcome == Done:\n", New: "case outcome == Done && p.mode.ephemeral():\n",
	}, {
		Name: "a node that may be made late is not searched for", Package: client, Tests: "CancelledInFlightAndThenCut",
		File: "framework/protected.go", Old: "case outcome == Failed && p.pauses == nil:", New: "case outcome != Done:",
	}, {
		Name: "a late refusal hides that an earlier attempt was carried out", Package: client, Tests: "AnswerThatComesLate",
		File: "framework/protected.go", Old: "case outcome == Failed && p.pauses == nil:", New: "case outcome == Failed:",
	}, {
		Name: "an unknown outcome that was answered is left to nobody", Package: client, Tests: "AnswerIsDroppedAtTheVeryEnd",
		File: "framework/protected.go", Old: "errors.As(err, &left)", New: "(errors.As(err, &left) || ctx.Err() != nil)",
	}, {
		Name: "a node that outlives its session is removed in that only", Package: client, Tests: "WhoseSessionThenEnds",
		File: "framework/protected.go", Old: "p.pauses != nil || !p.mode.ephemeral()", New: "p.pauses != nil",
	}, {
		Name: "a request in flight is forgotten", Package: trusting, Tests: "^(TestRequestsWhileAConnectionEnds|TestFramesAreWrittenInTheOrderInWhichTheyAreSent)$",
		File: "framework/internal/guard/conn.go", Old: "c.sent = append(c.room[:0], c.sent...)", New: "c.sent = c.room[:0]",
	}}
}
