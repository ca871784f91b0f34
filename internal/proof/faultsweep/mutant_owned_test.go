package faultsweep

// OwnedMutants are bugs in what the node of a contender says that it holds.
func OwnedMutants() []Mutant {
	const hold, queue, multilock = "internal/hold/owned.go", "internal/queue/owned.go", "./recipes/multilock"
	return []Mutant{{
		Name: "a node names leases that have ended", Package: "./internal/proof/conformance", Tests: "TestMutex$",
		File: hold, Old: " || !handle.isOpen() || h.Loss() != nil {", New: " {",
	}, {
		Name: "a node names a lease once for each entry", Package: "./internal/proof/conformance", Tests: "TestMutex$",
		File: hold, Old: "slices.Contains(seen, h) || ", New: "",
	}, {
		Name: "a node names others without the namespace", Package: "./internal/proof/conformance", Tests: "TestMutex$",
		File: hold, Old: "return h.client.FullPath(h.Path())", New: "return h.Path()",
	}, {
		Name: "a node names what a multi-lock would give up", Package: multilock, Tests: "TestNodesSayWhatIsHeldForGood",
		File: hold, Old: "trying.IsWithin(TentativeOf(handle.outer)) || ", New: "trying != nil && h == nil || ",
	}, {
		Name: "a node does not name what a multi-lock has", Package: multilock, Tests: "TestNodes",
		File: hold, Old: "t != nil && t.over.Load()", New: "false",
	}, {
		Name: "a multi-lock without a limit for its waits does not say what it keeps", Package: multilock, Tests: "TestNodesSayWhatIsHeldForGood",
		File: "recipes/multilock/wait.go", Old: "if limit == lease.Forever {\n\t\treturn w.ctx,", New: "if limit == 0 {\n\t\treturn w.ctx,",
	}, {
		Name: "a node names any number of leases", Package: "./recipes/mutex", Tests: "TestContendersOfVeryDeepNesting",
		File: queue, Old: "if left -= len(path); left < 0 {", New: "if left < 0 {",
	}, {
		Name: "a node names the outermost jobs of very many", Package: "./recipes/mutex", Tests: "TestContendersOfVeryDeepNesting",
		File: queue, Old: "o.Within = o.Within[max(0, len(o.Within)-limit/len(\"0xffffffffffffffff\")):]", New: "o.Within = o.Within[:min(len(o.Within), 200)]",
	}, {
		Name: "what others have written where a node says what it holds is read", Package: "./recipes/mutex", Tests: "TestContendersWithForeignData",
		File: queue, Old: "err == nil {\n\t\t\twithin", New: "err != nil || true {\n\t\t\twithin",
	}, {
		Name: "who will give up what it waits for does not say so", Package: inspecting, Tests: "NoCertainCycleBehind",
		File: "recipes/multilock/wait.go", Old: "hold.TentativeOf(ctx).Limit()", New: "_ = hold.TentativeOf(ctx)",
	}, {
		Name: "a multi-lock within the try of another one does not know of that", Package: inspecting, Tests: "WithinTheTryOfAnother",
		File: hold, Old: "{outer: TentativeOf(ctx)}", New: "{}",
	}, {
		Name: "each permit of many says all that is held", Package: inspecting, Tests: "ManyPermitsWithin",
		File: queue, Old: "limit /= n", New: "limit /= n - n + 1",
	}, {
		Name: "who waits for any share does not say that it may leave", Package: "./internal/proof/conformance", Tests: "TestAnyOfThreeStripes$",
		File: "recipes/striped/any.go", Old: "l.shares.Take(queue.Moving(ctx), t)", New: "l.shares.Take(ctx, t)",
	}}
}
