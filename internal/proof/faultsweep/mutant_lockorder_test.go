package faultsweep

const ordering = "./recipes/lockorder"

// LockOrderMutants are bugs in the search for inconsistent orders.
func LockOrderMutants() []Mutant {
	return []Mutant{{
		Name: "a hold that has ended is not forgotten", Package: ordering, Tests: "Ends",
		File: "recipes/lockorder/checker.go", Old: "delete(c.held, node)", New: "_ = node",
	}, {
		Name: "an acquire that does not wait has an order", Package: ordering, Tests: "RandomPrograms|Orders",
		File: "recipes/lockorder/checker.go", Old: "a.Timeout <= 0 || ", New: "",
	}, {
		Name: "a cycle is looked for in the wrong direction", Package: ordering, Tests: "RandomPrograms",
		File: "recipes/lockorder/checker.go", Old: "c.graph.path(e.wanted, e.held)", New: "c.graph.path(e.held, e.wanted)",
	}, {
		Name: "a cycle is not the shortest one", Package: ordering, Tests: "Orders",
		File: "recipes/lockorder/graph.go", Old: "next = append(next, e.wanted)", New: "next = append([]string{next[0], e.wanted}, next[1:]...)",
	}, {
		Name: "a multi-lock has an order among its own locks", Package: ordering, Tests: "MultiLocks",
		File: "recipes/lockorder/held.go", Old: "givenUp := trying.IsWithin(r.tentative)", New: "givenUp := trying != nil && r.goroutine == 0",
	}, {
		Name: "what is released is held until observers are notified", Package: ordering, Tests: "Ends|BeginsAgain",
		File: "recipes/lockorder/held.go", Old: " && (r.hold == nil || r.hold.IsGrantHeld())", New: "",
	}, {
		Name: "another client re-enters what the context owns", Package: ordering, Tests: "HeldByItsOwner",
		File: "recipes/lockorder/held.go", Old: "r.client == client && ", New: "",
	}}
}
