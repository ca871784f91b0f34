package faultsweep

// SessionMutants are bugs in clients with several sessions.
func SessionMutants() []Mutant {
	const (
		catchUp                          = "framework/catch_up.go"
		choice, further, quota, timeline = "framework/choice.go", "framework/further.go", "framework/quota.go", "framework/timeline.go"

		rows = "^TestMutex$/^(there_are_more|contenders_of_one_path_share|no_further|all_sessions|many_contend|several_are_opened|a_further_session|the_main_session_of|a_waiter_moves|a_client_with_several|a_holder_|only_the_first|a_late_write)"
	)
	mutants := []Mutant{{
		Name: "a contender joins wherever there is room", File: choice,
		Old: "return s.quota.hasBelow(parents) }", New: "return s.quota.hasBelow(parents[:0]) }",
	}, {
		Name: "a contender joins the newest session", File: choice,
		Old: "return some[0]", New: "return some[len(some)-1]",
	}, {
		Name: "sessions are opened without limit", File: choice,
		Old: "case c.living() < c.cfg.Sessions:", New: "default:",
	}, {
		Name: "contenders try for ever to open a session", File: choice,
		Old: "c.choose(of, failed == nil)", New: "c.choose(of, true)",
	}, {
		Name: "a session with contenders is closed", File: further,
		Old: "used := s.chosen || s.quota.holds()", New: "used := s.chosen",
	}, {
		Name: "unused sessions stay", File: further,
		Old: "if c.drop(s, false) {", New: "if false {",
	}, {
		Name: "Close does not end further sessions", File: further,
		Old: "case <-c.ctx.Done():\n\t\t\treturn c.drop(s, true)", New: "",
	}, {
		Name: "an opening is waited for without limit", File: further,
		Old: "context.WithTimeoutCause(c.ctx, c.cfg.SessionTimeout, errNotOpened)", New: "context.WithCancel(c.ctx)",
	}, {
		Name: "a holder reads what its main session shows", File: "framework/call.go",
		Old: "return s.catchUp(ctx, c)", New: "return nil",
	}, {
		Name: "a grant in a further session does not count", File: "framework/reliance.go",
		Old: "s.granted()\n", New: "",
	}, {
		Name: "what follows a hand-over passes the delete", File: catchUp,
		Old: "if err := other.awaitReleased(ctx); err != nil {", New: "if err := other.Err(); err != nil && false {",
	}, {
		Name: "every read catches up", File: catchUp,
		Old: "s.caught.upTo.Store(grants)", New: "s.caught.upTo.Store(min(grants, 0))",
	}, {
		Name: "what recipes do catches up, too", File: "framework/recipe_view.go",
		Old: "view.pinned, view.recipe = s, true", New: "view.pinned, view.recipe = s, s.further",
	}, {
		Name: "the state of the client is that of its main session", File: timeline,
		Old: "if t.main.State == Connected && s.counts && (", New: "if false && (",
	}, {
		Name: "an acquire fails when others were faster", File: "internal/acquire/wait.go",
		Old: "!slices.Contains(w.full, session):", New: "false:",
	}}
	for i := range mutants {
		mutants[i].Package, mutants[i].Tests = suites, rows
	}
	return append(mutants, Mutant{
		Name: "a contender joins a session that is not attached", Package: gating, Tests: "^TestAttachedSessionIsPreferred$",
		File: choice, Old: "case s.gate.isOpen():", New: "case s.gate.isOpen() || true:",
	}, Mutant{
		Name: "sessions are filled to the brim", Package: gating, Tests: "^TestSessionsAreNotFilledToTheBrim$",
		File: quota, Old: "q.limit-q.limit/sparedPart", New: "q.limit",
	}, Mutant{
		Name: "operations catch up one by one", Package: gating, Tests: "^TestOperationsCatchUpTogether$",
		File: catchUp, Old: "\tif s.caught.upTo.Load() >= before {\n\t\treturn nil\n\t}\n\tgrants", New: "\tgrants",
	}, Mutant{
		Name: "an operation that could not catch up counts as sent", Package: gating, Tests: "^TestOperationThatCannotCatchUpIsNotSent$",
		File: catchUp, Old: "return notSentError{err}", New: "return err",
	}, Mutant{
		Name: "a suspended session that is closed leaves the client suspended", Package: gating, Tests: "^TestTimelineOfSeveralSessions$",
		File: timeline, Old: "\tt.follow(time.Now())\n", New: "",
	}, Mutant{
		Name: "each contender opens a session", Package: gating, Tests: "^TestOneSessionIsOpenedAtATime$",
		File: choice, Old: "case c.opening != nil:", New: "case c.opening != nil && false:",
	}, Mutant{
		Name: "a further session that is lost counts", Package: gating, Tests: "^TestSessionThatIsOverDoesNotCount$",
		File: choice, Old: "if context.Cause(s.ctx) == nil {\n\t\t\tn++\n\t\t}", New: "_ = s\n\t\tn++",
	}, Mutant{
		Name: "a session that was just chosen is closed", Package: gating, Tests: "^TestSessionThatWasChosenIsKept$",
		File: choice, Old: "s.chosen = true", New: "",
	}, Mutant{
		Name: "a session that was full is avoided when there can be no other", Package: gating, Tests: "^TestRoomAgainWhereThereWasNone$",
		File: choice, Old: "of.except = nil", New: "",
	}, Mutant{
		Name: "the loss of a further session is not told", Package: gating, Tests: "^TestTimelineOfSeveralSessions$",
		File: timeline, Old: "t.own(change, counts && change.State == Lost)", New: "t.own(change, false)",
	}, Mutant{
		Name: "a further session that holds nothing counts", Package: gating, Tests: "^TestTimelineOfSeveralSessions$",
		File: timeline, Old: "(holds || from.counts)", New: "true",
	}, Mutant{
		Name: "a closed session is remembered", Package: gating, Tests: "^TestTimelineOfSeveralSessions$",
		File: timeline, Old: "delete(t.further, session)\n\tt.f", New: "_ = session\n\tt.f",
	}, Mutant{
		Name: "after a loss the client stays lost", Package: gating, Tests: "^TestTimelineOfSeveralSessions$",
		File: timeline, Old: "worst.State != t.client.State {", New: "false {",
	}, Mutant{
		Name: "what is reserved is not counted below its parent", Package: gating, Tests: "^TestQuotaCountsTheNodesThatExist$",
		File: quota, Old: "q.below[hashOf(parentOf(path))]++\n\treturn nil", New: "return nil",
	}, Mutant{
		Name: "a node that was deleted is counted below its parent", Package: gating, Tests: "^TestQuotaCountsTheNodesThatExist$",
		File: quota, Old: "q.leave(path)\n", New: "",
	})
}
