package faultsweep

// MultiLockMutants are bugs in locks on several locks.
func MultiLockMutants() []Mutant {
	const (
		several = "./recipes/multilock"
		client  = "./framework"
	)
	return []Mutant{{
		Name: "locks are acquired in the order in which they were given", Package: several, Tests: "^TestLocksAreAcquiredInTheOrder",
		File: "recipes/multilock/multilock.go", Old: "return cmp.Compare(a.fullPath(), b.fullPath())", New: "_, _ = cmp.Compare(0, 0), b; return 0",
	}, {
		Name: "a lock is waited for without a limit while others are held", Package: several, Tests: "^TestForeignOrderDelays",
		File: "recipes/multilock/wait.go", Old: "limited := keepsOthersOut && limit < timeout", New: "limited := keepsOthersOut && false",
	}, {
		Name: "what is held is kept when another lock is not acquired", Package: several, Tests: "^TestForeignOrderDelays",
		File: "recipes/multilock/wait.go", Old: "\t\t\tall.Undo()\n", New: "",
	}, {
		Name: "the locks are acquired independently of each other", Package: several, Tests: "^TestOneOfTheLocksIsLost$",
		File: "recipes/multilock/wait.go", Old: "ctx, keepsOthersOut = l.Context(), keepsOthersOut || first", New: "keepsOthersOut = keepsOthersOut || first",
	}, {
		Name: "a try is not repeated when a lock was lost before all were held", Package: several, Tests: "^TestLockIsLostBeforeAllAreHeld$",
		File: "recipes/multilock/wait.go", Old: "\t\treturn lost\n", New: "\t\treturn final\n",
	}, {
		Name: "a lock that the caller has anyway counts as held for the limit", Package: several, Tests: "^TestNoLimitWhileNothing",
		File: "recipes/multilock/wait.go", Old: "keepsOthersOut || first\n", New: "keepsOthersOut || first || true\n",
	}, {
		Name: "the other locks are kept when one is lost", Package: several, Tests: "^TestOneOfTheLocksIsLost$",
		File: "internal/hold/several.go", Old: "if i != which {", New: "if i != which && false {",
	}, {
		Name: "a lease on several locks asks the first one only", Package: several, Tests: "^TestMaxHoldOfOneOfTheLocks$",
		File: "internal/hold/several.go", Old: "\tfor i, p := range s.parts {\n\t\tif err := p.Err()", New: "\tfor i, p := range s.parts[:1] {\n\t\tif err := p.Err()",
	}, {
		Name: "a check is about the first lock only", Package: several, Tests: "^TestCheckCoversAllLocks$",
		File: "internal/hold/several.go", Old: "all = append(all, p.Check())", New: "all = append(all, s.parts[0].Check())",
	}, {
		Name: "an operation that stands for several is the first of them", Package: client, Tests: "^TestMultiWithAnOperationThatStandsForSeveral$",
		File: "framework/multi_all.go", Old: "for _, one := range *op.all {", New: "for _, one := range (*op.all)[:min(1, len(*op.all))] {",
	}, {
		Name: "a check is about the first of several permits", Package: "./recipes/semaphore", Tests: "^TestCheckCoversAllPermits$",
		File: "internal/hold/check.go", Old: "\tif len(h.entry.also) == 0 {\n\t\treturn own\n", New: "\tif true {\n\t\treturn own\n",
	}, {
		Name: "a claim that is given up ends the hold of another owner", Package: several, Tests: "^TestOneOfTheLocksIsHeldAlready$",
		File: "internal/hold/together.go", Old: "case !alone:", New: "case false && alone:",
	}, {
		Name: "the time that CloseGrace gives is not given at the other locks", Package: several, Tests: "^TestOneOfTheClientsIsClosed$",
		File: "internal/hold/together.go", Old: "case h.hold.isClosing():", New: "case false:",
	}, {
		Name: "a request for revocation is heard at the first lock only", Package: several, Tests: "^TestRevocationOfAnyOfTheLocks$",
		File: "internal/hold/several.go", Old: "\tfor _, p := range s.parts {\n\t\ts.stops", New: "\tfor _, p := range s.parts[:1] {\n\t\ts.stops",
	}}
}
