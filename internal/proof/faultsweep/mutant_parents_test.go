package faultsweep

// ParentMutants are bugs in what is known of parents, and in how they are made.
func ParentMutants() []Mutant {
	const file = "framework/parents.go"
	return []Mutant{{
		Name: "a parent that was removed is known for ever", Package: gating, Tests: "CostOfParents",
		File: file, Old: "all.forget(parent, ahead)\n\t\tcase", New: "\n\t\tcase",
	}, {
		Name: "a node is not made behind its parent", Package: gating, Tests: "CostOfParents",
		File: file, Old: "case <-ahead.sent.Done():", New: "default:",
	}, {
		Name: "a create of the parent is waited for beyond the end of the call", Package: gating, Tests: "CallerLeaves",
		File: file, Old: "case <-ctx.Done():", New: "",
	}, {
		Name: "callers wait for a create of the parent that is never sent", Package: gating, Tests: "CallerLeaves",
		File: file, Old: "defer ahead.sent.Give()", New: "",
	}, {
		Name: "each caller makes the parent", Package: gating, Tests: "CreatesOfOneMissingParent",
		File: file, Old: "return nil, false\n\t\t}\n\t\tentry = &ahead{joins: p.streak == longStreak}\n\t}\n\tp.put(key, entry)", New: "return nil, false\n\t\t}\n\t\treturn new(ahead), false\n\t}\n\tp.put(key, entry)",
	}, {
		Name: "all parents ever used are remembered", Package: gating, Tests: "RememberedAreBounded",
		File: file, Old: "len(p.recent) >= parentsLimit", New: "false",
	}, {
		Name: "parents that are used are forgotten with the others", Package: gating, Tests: "RememberedAreBounded",
		File: file, Old: "p.put(key, entry)\n\treturn", New: "if !known {\n\t\tp.put(key, entry)\n\t}\n\treturn",
	}, {
		Name: "a parent counts in all namespaces", Package: gating, Tests: "CostOfParents",
		File: file, Old: "&v.core.parents, v.full(path)", New: "&v.core.parents, path",
	}, {
		Name: "a parent is made in the namespace of its namespace", Package: gating, Tests: "CostOfParents",
		File: file, Old: "c.bare()", New: "c",
	}, {
		Name: "parents that exist are made again and again", Package: gating, Tests: "CostOfParents",
		File: file, Old: "case err == nil, exists:", New: "case err == nil:",
	}, {
		Name: "after a parent that existed none is made ahead", Package: gating, Tests: "CostOfParents",
		File: file, Old: "p.streak = min(max(p.streak, 0)+1, longStreak)", New: "",
	}, {
		Name: "a server without containers is asked again and again", Package: gating, Tests: "ParentsOnAServerWithoutContainers",
		File: file, Old: "if p.plain.Load() {", New: "if false {",
	}, {
		Name: "a server that hangs up is asked again and again", Package: gating, Tests: "ParentsOnAServerThatHangsUp",
		File: file, Old: "OutcomeOf(err) == Unknown && ctx.Err() == nil", New: "false",
	}, {
		Name: "a parent that cannot be made is tried for ever", Package: gating, Tests: "ParentThatMayNotBeMade",
		File: file, Old: "join(path, \"x\")); err != nil {", New: "join(path, \"x\")); err != nil && false {",
	}, {
		Name: "a try does not remember that the path exists", Package: scenarios, Tests: "CostOfFreshMutex",
		File: "internal/acquire/try.go", Old: "kit.Of(t.Client).RecordParent(q.Path, exists)", New: "",
	}}
}
