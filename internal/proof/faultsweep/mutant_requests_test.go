package faultsweep

// RequestMutants are bugs in how requests wait for their answers, and in the goroutines
// of a session.
func RequestMutants() []Mutant {
	const (
		client = "./framework"
		waited = "^TestNothingStartsOnceTasksAreWaitedFor$"
		trim   = "^TestGoroutinesThatAreNotNeededEnd$"
	)
	return []Mutant{{
		Name: "a task starts after its session was waited for", Package: client, Tests: waited,
		File: "framework/tasks.go", Old: "t.closed.Store(true)", New: "t.closed.Load()",
	}, {
		Name: "a goroutine waits for a task that cannot come any more", Package: client, Tests: waited,
		File: "framework/tasks.go", Old: "if t.closed.Load() { // wait may", New: "if false { // wait may",
	}, {
		Name: "a task is given to a goroutine that ends", Package: client, Tests: trim,
		File: "framework/tasks.go", Old: "w.next <- nil\n", New: "w.next <- nil\n\t\t\tt.idle <- w\n",
	}, {
		Name: "a goroutine ends without the task that it was given", Package: client, Tests: trim,
		File: "framework/tasks.go", Old: "w.next <- work //", New: "w.next <- nil //",
	}, {
		Name: "goroutines that are needed end", Package: client, Tests: trim,
		File: "framework/tasks.go", Old: "t.end(int(t.spare.Load()))", New: "t.end(idleTasks)",
	}, {
		Name: "a listing is sent before the create", Package: client, Tests: "^TestAListingBehindSeveralCreates$",
		File: "framework/create.go", Old: "a.sent = o.onSent", New: "if o.onSent != nil {\n\t\to.onSent()\n\t\ttime.Sleep(time.Millisecond)\n\t}",
	}, {
		Name: "a late answer reaches another caller", Package: client, Tests: "^TestALateAnswerReachesNoOtherRequest$",
		File: "framework/attempt.go", Old: "if c.decided.CompareAndSwap(false, true) {\n\t\t\treturn value, Unknown, err", New: "if s.answers.give(c.answer); true {\n\t\t\treturn value, Unknown, err",
	}, {
		Name: "a request in flight is forgotten", Package: trusting, Tests: "^(TestRequestsWhileAConnectionEnds|TestFramesAreWrittenInTheOrderInWhichTheyAreSent)$",
		File: "framework/internal/guard/conn.go", Old: "c.sent = append(c.room[:0], c.sent...)", New: "c.sent = c.room[:0]",
	}}
}
