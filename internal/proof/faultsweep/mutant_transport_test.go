package faultsweep

// TransportMutants are bugs in how the guard sends requests and hands over answers and
// events.
func TransportMutants() []Mutant {
	const client = "./framework"
	return []Mutant{{
		Name: "reads are answered before the watches are set again", Package: client, Tests: "^TestNoReadIsAnsweredBefore",
		File: "framework/internal/guard/attach.go", Old: "return c.accepted == len(c.guard.cfg.Auth) && len(c.toSet) == 0", New: "return c.accepted == len(c.guard.cfg.Auth)",
	}, {
		Name: "watches are set as of a zxid behind which events are missing", Package: trusting, Tests: "^TestWatchesAreSetAsOfTheNewestAnswer$",
		File: "framework/internal/guard/attach.go", Old: "c.guard.told.Load()", New: "c.guard.zxid.Load()",
	}, {
		Name: "watches are set as of an answer that came before they were set", Package: trusting, Tests: "^TestAnswersBeforeAllWatchesAreSetDoNotCount$",
		File: "framework/internal/guard/read.go", Old: "if a.to.request != nil && c.isSettled() {", New: "if a.to.request != nil {",
	}, {
		Name: "a multi that finds no session leaves it", Package: client, Tests: "^TestMultiWhoseResultSaysThatTheSessionHasExpired$",
		File: "framework/attempt.go", Old: "c.session.endIfExpired(err)", New: "if a.Code != 0 {\n\t\tc.session.endIfExpired(err)\n\t}",
	}, {
		Name: "answers are lost when nothing can be written", Package: trusting, Tests: "^TestAnswersAreReadWhenNothingCanBeWritten$",
		File: "framework/internal/guard/writing.go", Old: "_ = c.Conn.SetReadDeadline(time.Now().Add(answersGrace))", New: "c.drop(err)",
	}, {
		Name: "a watch of a connection that has broken counts on the next one", Package: client, Tests: "^TestWatchTableAgainstAModel$",
		File: "framework/watch_table.go", Old: "case w.round != entry.table.round:", New: "case false:",
	}, {
		Name: "no watch is set again", Package: client, Tests: "^TestWatchesSurviveAReconnect$",
		File: "framework/watch_table.go", Old: "w.Data = append(w.Data, key.path)", New: "",
	}, {
		Name: "a watch on a missing node is set again as on one that exists", Package: client, Tests: "^TestWatches",
		File: "framework/watch_table.go", Old: "true, !exists", New: "true, false",
	}, {
		Name: "a check overtakes the credentials", Package: trusting, Tests: "^(TestWhatComesFirstOnAConnection|TestNothingOvertakesWhatComesFirst)$",
		File: "framework/internal/guard/attach.go", Old: "\tc.order.Lock()\n\tc.mu.Lock()\n\tc.attached = true\n\tc.mu.Unlock()\n",
		New: "\tc.mu.Lock()\n\tc.attached = true\n\tc.mu.Unlock()\n\tfor range 1000 {\n\t\tc.guard.events.Wake()\n\t}\n\tc.order.Lock()\n\tc.sendCheck(c.startCheck())\n",
	}, {
		Name: "a request gets no answer when the connection ends", Package: trusting, Tests: "^TestAConnectionThatTheServerCutsOff$",
		File: "framework/internal/guard/close.go", Old: "\tc.abandon()\n", New: "",
	}, {
		Name: "a request whose answer was cut off gets none", Package: trusting, Tests: "^TestAConnectionThatEndsInsideAnAnswer$",
		File: "framework/internal/guard/request.go", Old: "if c.answering != nil {", New: "if false {",
	}, {
		Name: "a request is answered twice", Package: trusting, Tests: "^TestAConnectionThatEndsDuringAnAnswer$",
		File: "framework/internal/guard/request.go", Old: "\tr := c.answering\n\tc.answering = nil\n", New: "\tr := c.answering\n",
	}, {
		Name: "something is sent behind the close request", Package: trusting, Tests: "^TestRequestsAroundTheCloseRequest$",
		File: "framework/internal/guard/conn.go", Old: "c.closing = f.xid == xidClose", New: "",
	}, {
		Name: "frames are overwritten while they are written", Package: trusting, Tests: "^TestWhatIsBeingWrittenStays$",
		File: "framework/internal/guard/writing.go", Old: "c.out = spare[:0]", New: "c.out = c.out[:0]",
	}, {
		Name: "a watch to remove is chosen too early", Package: trusting, Tests: "^TestAWatchIsChosenWhenNothingElseCanBeSent$",
		File: "framework/internal/guard/request.go", Old: "\tc.order.Lock()\n\tdefer c.order.Unlock()\n\trecord := choose()\n", New: "\trecord := choose()\n\tc.order.Lock()\n\tdefer c.order.Unlock()\n",
	}, {
		Name: "an attempt that was not sent keeps its place in the quota", Package: client, Tests: "^TestRequestThatComesTooLateForAConnectionTakesTheNext$",
		File: "framework/attempt.go", Old: "_, _ = c.attempt.finish(guard.Answer{}, cmp.Or(err, guard.ErrConnectionClosed))", New: "",
	}, {
		Name: "an attempt that was not sent is given up", Package: client, Tests: "^TestRequestThatComesTooLateForAConnectionTakesTheNext$",
		File: "framework/attempt.go", Old: "case <-c.over.down.Done():", New: "case <-c.over.down.Done():\n\t\t\t\treturn guard.ErrConnectionClosed",
	}, {
		Name: "the czxid of a node is not that of its create", Package: client, Tests: "^TestCreatesOfOnePathAtATimeGetTheirOwnCzxid$",
		File: "framework/create.go", Old: "Czxid: a.Zxid,", New: "Czxid: a.Zxid + 1,",
	}}
}
