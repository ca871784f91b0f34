package faultsweep

const deadlocks = "./internal/waitfor"

// CycleMutants are bugs in the search for clients that wait for each other.
func CycleMutants() []Mutant {
	return []Mutant{{
		Name: "a reader counts as waiting for other readers", Package: deadlocks, Tests: "StuckIsWhoIsLeft",
		File: "internal/waitfor/waitfor.go", Old: "ahead = exclusively", New: "_ = exclusively",
	}, {
		Name: "a holder goes when one of those who own it goes", Package: deadlocks, Tests: "StuckIsWhoIsLeft",
		File: "internal/waitfor/waitfor.go", Old: "if held.waiting--; held.waiting == 0 {", New: "if held.waiting = 0; held.waiting == 0 {",
	}, {
		Name: "who asks for more permits than there are counts as stuck", Package: deadlocks, Tests: "StuckIsWhoIsLeft",
		File: "internal/waitfor/waitfor.go", Old: "return c.Needs > c.queue.Size || taken", New: "return taken",
	}, {
		Name: "a cycle through a writer that waits is not found", Package: deadlocks, Tests: "CyclesAreShortestOnes",
		File: "internal/waitfor/cycle.go", Old: "if c.Shared && c.behind != nil {", New: "if c.Shared && c.behind == c {",
	}, {
		Name: "who waits for its own permits hides a cycle with others", Package: deadlocks, Tests: "CyclesAreShortestOnes",
		File: "internal/waitfor/cycle.go", Old: "range []bool{false, true} {", New: "range []bool{true} {",
	}, {
		Name: "what changes between the two looks is taken for a deadlock", Package: inspecting, Tests: "BetweenTheLooks",
		File: "inspect/looks.go", Old: "return !was[identityOf(c)]", New: "return len(was) == 0",
	}, {
		Name: "who is granted between the looks counts as holder in both", Package: inspecting, Tests: "GrantedBetween",
		File: "inspect/looks.go", Old: "c.Enqueued.UnixMilli(), c.State}", New: "c.Enqueued.UnixMilli(), Held}",
	}, {
		Name: "one look at each queue counts as a moment", Package: inspecting, Tests: "NeverWas",
		File: "inspect/cycles.go", Old: "cyclesIn(client, second)", New: "append(cyclesIn(client, again), cyclesIn(client, second)...)",
	}, {
		Name: "a size that changes between the looks counts as known", Package: inspecting, Tests: "SizeThatChanges",
		File: "inspect/looks.go", Old: "if p.sizeAt != before.sizeAt {", New: "if p.sizeAt < 0 {",
	}, {
		Name: "holders for whom a smaller size has no room count as waiting", Package: inspecting, Tests: "SmallerSize",
		File: "inspect/waits.go", Old: "if g.possible || !n.mayHold() && ", New: "if g.possible || ",
	}, {
		Name: "who waits behind one that will give up counts as stuck", Package: inspecting, Tests: "NoCertainCycleBehind",
		File: "inspect/waits.go", Old: "!n.holds() && n.GivesUp", New: "!n.holds() && n.GivesUp && false",
	}, {
		Name: "a slot that was handed over counts as waited for", Package: inspecting, Tests: "HandedOver",
		File: "inspect/looks.go", Old: "c.Holding, c.State = true, Held", New: "c.Holding = true",
	}, {
		Name: "a lease on several permits counts as one permit", Package: inspecting, Tests: "OfSeveralPermits",
		File: "inspect/waits.go", Old: "together = grants[", New: "_ = grants[",
	}, {
		Name: "threads that wait for each other's lock count as a cycle", Package: inspecting, Tests: "ThatAreBusy",
		File: "inspect/waits.go", Old: "held.place != n.place && held.isOlder(n)", New: "held.isOlder(n)",
	}, {
		Name: "a waiter counts as holder of what was granted later", Package: inspecting, Tests: "ThatAreBusy",
		File: "inspect/waits.go", Old: "return n.Token < other.Token", New: "return n.Token != other.Token",
	}, {
		Name: "the records of a lock-delay count as a lock", Package: inspecting, Tests: "WhatAWalkFinds",
		File: "inspect/walk.go", Old: "case name == znode.LockDelayDir:", New: "case name == \"x\":",
	}, {
		Name: "a command does not say what it waits within", Package: "./cmd/zkrecipes", Tests: "OfNestedRuns",
		File: "cmd/zkrecipes/acquire.go", Old: "ctx = j.env.withinAncestors(ctx)", New: "_ = j.env.withinAncestors(ctx)",
	}}
}
