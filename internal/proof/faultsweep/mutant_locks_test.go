package faultsweep

// InUseMutants are bugs in the search for locks that are in use, and for what is left
// behind.
func InUseMutants() []Mutant {
	return []Mutant{{
		Name: "readers behind a writer count as holders", Package: "./internal/locks", Tests: "ThatThePolicyAdmits",
		File: "internal/locks/locks.go", Old: "readers = readers && names[n]", New: "readers = names[n]",
	}, {
		Name: "all stripes of a path are found one by one", Package: inspecting, Tests: "LocksOfAllRecipes",
		File: "inspect/locks.go", Old: "q.Path, q.Recipe = dir, recipe", New: "_ = dir",
	}, {
		Name: "of several stripes the last one is the head", Package: inspecting, Tests: "LocksOfAllRecipes",
		File: "inspect/locks.go", Old: "|| at.Before(l.HeldSince())", New: "|| at.After(l.HeldSince())",
	}, {
		Name: "permits of a single queue count as one each", Package: inspecting, Tests: "LocksOfAllRecipes",
		File: "inspect/heads.go", Old: "size -= int64(name.Weight)", New: "size--",
	}, {
		Name: "who waits for a permit is shown with a token", Package: inspecting, Tests: "WhoseHeadLeaves",
		File: "inspect/heads.go", Old: "l.Head.Token = 0", New: "_ = l",
	}, {
		Name: "a head that has left is shown as the head", Package: inspecting, Tests: "WhoseHeadLeaves",
		File: "inspect/heads.go", Old: "if !gone || read", New: "if gone || read",
	}, {
		Name: "a queue is read to its end while its heads leave", Package: inspecting, Tests: "WhoseHeadLeaves",
		File: "inspect/heads.go", Old: "read == headsRead", New: "read == 100*headsRead",
	}, {
		Name: "any node below a lock-delay says when the lease was granted", Package: inspecting, Tests: "WhenALockWasGranted",
		File: "inspect/heads.go", Old: "exists && stat.EphemeralOwner == 0", New: "exists",
	}, {
		Name: "a queue of waiters for permits is a lock while there are none", Package: inspecting, Tests: "LocksOfOtherClients",
		File: "inspect/walk.go", Old: "|| contendersIn(waiting, ", New: "|| false && contendersIn(waiting, ",
	}, {
		Name: "a semaphore whose permits may not be read has none", Package: inspecting, Tests: "ListsThatMayNotBeRead",
		File: "inspect/walk.go", Old: "if !at[path+\"/\"+znode.PermitsDir].ok {", New: "if false {",
	}, {
		Name: "a container that was just used counts as litter", Package: inspecting, Tests: "EmptyParents",
		File: "inspect/litter_find.go", Old: "certain := !since.IsZero() && ", New: "certain := ",
	}, {
		Name: "an older time than that of the last change counts", Package: inspecting, Tests: "EmptyParents",
		File: "inspect/litter_find.go", Old: "times.after(stat.Pzxid)", New: "times.after(stat.Czxid)",
	}, {
		Name: "what stores another program's data counts as litter", Package: inspecting, Tests: "EmptyParents|UsedAgain",
		File: "inspect/litter_find.go", Old: "|| !isOfARecipe(data)", New: "|| false && !isOfARecipe(data)",
	}, {
		Name: "what was used while it was looked for counts as litter", Package: inspecting, Tests: "UsedAgain",
		File: "inspect/litter_find.go", Old: " || stat.Pzxid != changed[path]", New: "",
	}, {
		Name: "parts of a semaphore in use count as litter", Package: inspecting, Tests: "PartsOfRecipes",
		File: "inspect/litter_find.go", Old: "inUse[dir] && isPart", New: "dir != dir && isPart",
	}, {
		Name: "the number of deletions counts as sequence number", Package: inspecting, Tests: "NumbersThatEnd",
		File: "inspect/litter.go", Old: "int64(uint32(l.stat.Cversion+l.stat.NumChildren) >> 1)", New: "int64(l.stat.Cversion)",
	}, {
		Name: "numbers that have ended are not seen after an overflow", Package: inspecting, Tests: "NumbersThatEnd",
		File: "inspect/litter.go", Old: "made = numbersMax", New: "_ = made",
	}, {
		Name: "a lock-delay that somebody waits for counts as litter", Package: inspecting, Tests: "RecordsOfHolders",
		File: "inspect/litter.go", Old: " && !contendersIn(l, atThePath...)", New: "",
	}, {
		Name: "nothing certain is left behind, and the exit code says it is", Package: "./cmd/zkrecipes", Tests: "TestLitter$",
		File: "cmd/zkrecipes/litter.go", Old: "return of.Certain }", New: "return true }",
	}, {
		Name: "the chroot is shown", Package: "./cmd/zkrecipes", Tests: "RecursiveListing$",
		File: "cmd/zkrecipes/recursive.go", Old: "strings.TrimPrefix(path, chroot)", New: "strings.TrimPrefix(path, chroot[:0])",
	}, {
		Name: "locks nobody waits for come first", Package: "./cmd/zkrecipes", Tests: "OrderOfTop",
		File: "cmd/zkrecipes/top.go", Old: "cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Waited", New: "cmp.Compare(a.Waiting, b.Waiting), cmp.Compare(b.Waited",
	}, {
		Name: "ls reads what it does not show", Package: "./cmd/zkrecipes", Tests: "RequestsForALongQueue$",
		File: "cmd/zkrecipes/ls.go", Old: "inspect.Heads(ctx, client, full, n)", New: "inspect.Heads(ctx, client, full, math.MaxInt)",
	}, {
		Name: "who waits has a place among the holders that are left out", Package: "./cmd/zkrecipes", Tests: "LongQueueIsNumbered$",
		File: "cmd/zkrecipes/survey.go", Old: "position += q.LeftOut[inspect.Held]", New: "_ = q",
	}, {
		Name: "a queue of which nothing is listed is free", Package: "./cmd/zkrecipes", Tests: "TestQuiet$",
		File: "cmd/zkrecipes/listing.go", Old: "len(l.Queue)+l.LeftOut > 0", New: "len(l.Queue) > 0",
	}, {
		Name: "holders that are left out count as waiting", Package: "./cmd/zkrecipes", Tests: "LongQueueIsNumbered$",
		File: "cmd/zkrecipes/listing.go", Old: "l.holders += n", New: "l.holders++",
	}}
}
