package faultsweep

// ObserverMutants are bugs in the events of observers: metrics and traces would be
// wrong, or change what a lease is.
func ObserverMutants() []Mutant {
	return []Mutant{{
		Name: "observers are notified of a hold before the end of its acquire", Package: suites, Tests: "^TestMutex$/^observers_are_notified_of_a_hold",
		File: "internal/acquire/try.go", Old: "\t\to.end(nil)\n", New: "",
	}, {
		Name: "observers are notified of a loss again", Package: suites, Tests: "^TestSemaphore$/Curator's_layout/the_node_of_a_holder_may_not_be_read",
		File: "internal/hold/watcher.go", Old: "return !known", New: "return true",
	}, {
		Name: "observers are notified of a loss by the release, too", Package: suites, Tests: "^TestMutex$/^a_check_fails_after_a_loss",
		File: "internal/hold/release.go", Old: "\t\th.letGo(true)\n", New: "\t\th.letGo(true)\n\t\th.notifyEnd(0, err)\n",
	}, {
		Name: "observers are not notified of a hold that is lost from the start", Package: suites, Tests: "^TestMutex$/^a_session_ends_while_observers",
		File: "internal/hold/hold.go", Old: "h.lose(why)\n\t\th.notifyLost()", New: "h.lose(why)",
	}, {
		Name: "an observer's context gives ownership", Package: suites, Tests: "^TestMutex$/^observers_cannot_change",
		File: "internal/hold/observe.go", Old: "owner.Inherit(work, ctx)", New: "context.WithValue(work, \"\", owner.Inherit(ctx, ctx))",
	}, {
		Name: "an observer's context cancels the lease", Package: suites, Tests: "^TestReaders$/^observers_cannot_change",
		File: "framework/observers.go", Old: "case ctx.Done() != nil && values.Done() == ctx.Done():", New: "case values != ctx:",
	}, {
		Name: "an observer's context hides the caller's cause", Package: suites, Tests: "^TestMutex$/^observers_cannot_change",
		File: "framework/observers.go", Old: "context.WithoutCancel(values)}", New: "values}",
	}, {
		Name: "an observer's context hides the caller's values", Package: suites, Tests: "^TestMutex$/^observers_cannot_change",
		File: "framework/observers.go", Old: "case ctx.Done() != nil && values", New: "case values",
	}, {
		Name: "a semaphore's hand-over is not measured", Package: suites, Tests: "^TestSemaphore$/Curator's_layout/observers_are_notified_of_a_wait",
		File: "recipes/semaphore/curator_head.go", Old: "\ta.try.Seen.Notify()\n", New: "",
	}, {
		Name: "the answer to a listing counts as a hand-over", Package: waits, Tests: "TestWhatIsMeasuredForObservers",
		File: "internal/queue/admission.go", Old: "if p.isKeptOut() {", New: "if true {",
	}, {
		Name: "an answer that follows the event counts as a hand-over", Package: "./recipes/rwlock", Tests: "TestHandOverBeginsWithTheEvent",
		File: "internal/queue/admission.go", Old: "!p.admissible && (len(p.waits)", New: "(len(p.waits)",
	}, {
		Name: "the hand-over of a stripe that a look finds is not measured", Package: "./recipes/striped", Tests: "TestHandOverOfAStripe",
		File: "internal/shares/call.go", Old: "\tc.try.Seen.Notify() // that this is due\n", New: "",
	}, {
		Name: "who is behind the front is not told its place", Package: waits, Tests: "TestWhatIsMeasuredForObservers",
		File: "internal/queue/behind.go", Old: "\tp.measureBehind()\n", New: "",
	}, {
		Name: "the trust deadline of a session without leases counts", Package: "./framework", Tests: "TestTrustOfAClient",
		File: "framework/trusted_until.go", Old: "!s.guard.IsRelied()", New: "false",
	}, {
		Name: "the trust deadline of a further session does not count", Package: "./framework", Tests: "TestTrustOfAClient",
		File: "framework/trusted_until.go", Old: "append([]*Session{c.core.session}, c.core.further...)", New: "[]*Session{c.core.session}",
	}, {
		Name: "a clean-up in the background does not start", Package: suites, Tests: "^TestLeader$/^a_create_is_cancelled",
		File: "framework/cleanup.go", Old: "range c.core.observers.cleanupStarted {", New: "range c.core.observers.cleanupStarted[:0] {",
	}}
}
