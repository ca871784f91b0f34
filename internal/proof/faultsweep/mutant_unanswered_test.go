package faultsweep

// UnansweredMutants are bugs in how leases of further sessions end behind writes of the
// main one.
func UnansweredMutants() []Mutant {
	const (
		unanswered = "framework/unanswered.go"
		rows       = "^TestMutex$/^(a_write_that_was_given_up|a_release_waits|a_release_goes_on|only_the_first_release|a_holder_reads)"
	)
	mutants := []Mutant{{
		Name: "a delete in a further session does not wait for writes", File: "framework/call.go",
		Old: "case s.further && deletes:", New: "case s.further && deletes && false:",
	}, {
		Name: "a delete that is sent at once does not wait for writes", File: "framework/at_once.go", Tests: "^TestAsyncReleases$/^mutex$/^a_write_that_was_given_up",
		Old: "v.pinned.further && v.core.unanswered.any()", New: "false",
	}, {
		Name: "a write that was given up does not count", File: "framework/call.go",
		Old: "if outcome == Unknown && !r.reads {", New: "if false {",
	}, {
		Name: "a session catches up by a sync", File: "framework/catch_up.go",
		Old: "_, err := (recipeView{c}).Within(s).Multi(ctx, Op{kind: opChecks, path: \"/\", absolute: true, version: AnyVersion})",
		New: "err := (recipeView{c}).Within(s).Sync(ctx, \"/\")",
	}, {
		Name: "writes of a session that is lost here are over", File: unanswered,
		Old: "err == nil || s.Err() == nil {\n\t\treturn err\n\t}", New: "err == nil || s.Err() == nil {\n\t\treturn err\n\t}\n\tif true {\n\t\treturn nil\n\t}",
	}, {
		Name: "Close does not wait for writes", File: unanswered,
		Old: "for s := range u.all() {", New: "for s := range map[*Session]int{} {",
	}, {
		Name: "each release waits for writes that are settled", File: unanswered,
		Old: "if u.of[s] == last {", New: "if u.of[s] == last+1 {",
	}}
	for i := range mutants {
		mutants[i].Package = suites
		if mutants[i].Tests == "" {
			mutants[i].Tests = rows
		}
	}
	return append(mutants, Mutant{
		Name: "writes are known by how many there are", Package: gating, Tests: "^TestSettledWritesAreForgottenOnce$",
		File: unanswered, Old: "u.count++\n\tu.of[s] = u.count", New: "u.of[s]++",
	}, Mutant{
		Name: "only who may read the root can catch up", Package: gating, Tests: "^TestCatchingUpWithoutPermissionForTheRoot$",
		File: "framework/catch_up.go", Old: "if errors.Is(err, ErrNoAuth) {", New: "if false {",
	}, Mutant{
		Name: "who has left what comes ahead has left an operation", Package: gating, Tests: "^TestOperationThatWasNotSentWasNotLeft$",
		File: "framework/catch_up.go", Old: "case **OpError, *leftError:", New: "case **OpError:",
	})
}
