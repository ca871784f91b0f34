package faultsweep

// RequestMutants are bugs in how requests are given to the library, and their answers
// to the callers.
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
		File: "framework/create.go", Old: "s.guard.ExpectCreate(path, o.onSent)", New: "if o.onSent != nil {\n\t\to.onSent()\n\t\ttime.Sleep(time.Millisecond)\n\t}",
	}, {
		Name: "a late answer reaches another caller", Package: client, Tests: "^TestALateAnswerReachesNoOtherRequest$",
		File: "framework/call.go", Old: "if c.decided.CompareAndSwap(false, true) {\n\t\t\treturn value, Unknown, err", New: "if s.answers.give(c.answer); true {\n\t\t\treturn value, Unknown, err",
	}, {
		Name: "a request in flight is forgotten", Package: client, Tests: "^(TestAListingBehindSeveralCreates|TestRequestsUnderWayAreLimited|TestParentWhoseCreateFails)$",
		File: "framework/internal/guard/conn.go", Old: "c.sent = append(c.room[:0], c.sent...)", New: "c.sent = c.room[:0]",
	}, {
		Name: "the czxid is looked for under the name that was asked for", Package: "./framework/internal/guard", Tests: "^TestGuardRemembersTheZxidOfCreates$",
		File: "framework/internal/guard/creates.go", Old: "return g.creates.take(made)", New: "return g.creates.take(asked)",
	}, {
		Name: "a node gets the acl of the one before", Package: client, Tests: "ACL|Owned",
		File: "framework/acl.go", Old: "slices.EqualFunc(*last, acl, same)", New: "len(*last) == len(acl) || slices.EqualFunc(*last, acl, same)",
	}}
}
