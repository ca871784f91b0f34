package faultsweep

// ForceMutants are bugs in what the command changes by force, and in the numbers that
// it changes or adopts.
func ForceMutants() []Mutant {
	const deletes, chooses, resizes = "cmd/zkrecipes/force_delete.go", "cmd/zkrecipes/force.go", "cmd/zkrecipes/resize.go"
	return []Mutant{{
		Name: "a node is taken away whatever its token is", Package: command, Tests: "ForceDeletesTheNodeThatItHasSeen$",
		File: deletes, Old: " || c.Token != 0 && lease.Token(stat.Czxid) != c.Token)", New: " || lease.Token(stat.Czxid) == 0)",
	}, {
		Name: "a node is taken away without its guard", Package: command, Tests: "ForceDeletesTheNodeThatItHasSeen$",
		File: deletes, Old: "exists, stat, err := in.Exists(ctx, c.Path)", New: "_ = in.Delete(ctx, guard.Path, framework.AnyVersion)\n" +
			"guard, _ = in.CreateProtected(ctx, \"/force\", nil, framework.Ephemeral)\nexists, stat, err := in.Exists(ctx, c.Path)",
	}, {
		Name: "a guard that is gone means that the holder has released", Package: command, Tests: "ForceWithoutItsGuard$",
		File: deletes, Old: "case failed.Index == 0:", New: "case true:",
	}, {
		Name: "taking away is not repeated when its answer is dropped", Package: command, Tests: "ForceOfUnknownOutcome$",
		File: deletes, Old: "			unknown = err\n			continue\n", New: "			unknown = err\n",
	}, {
		Name: "a node that is gone after an unknown outcome was not taken away", Package: command, Tests: "ForceOfUnknownOutcome$",
		File: deletes, Old: "errors.Is(err, errLeft) && unknown != nil", New: "errors.Is(err, errLeft) && ctx.Err() != nil",
	}, {
		Name: "one of several nodes with a token is taken away", Package: command, Tests: "ForceWithTheTokenOfSeveralNodes$",
		File: chooses, Old: "	case 1:\n", New: "	default:\n",
	}, {
		Name: "taking away is confirmed by anything", Package: command, Tests: "ForceIsConfirmedAtATerminal$",
		File: chooses, Old: "err != nil || answer != name && answer != c.Token.String()", New: "err != nil",
	}, {
		Name: "taking away is confirmed by the end of the input", Package: command, Tests: "ForceIsConfirmedAtATerminal$",
		File: chooses, Old: "err != nil || answer != name", New: "err != nil && answer == \"\" || answer != name",
	}, {
		Name: "taking away needs no terminal", Package: command, Tests: "ForceIsOnlyOnTheCommandLine$",
		File: chooses, Old: "!named && !typed", New: "!named && typed && false",
	}, {
		Name: "a resize whose number is the same writes", Package: command, Tests: "ResizeOfPermits$",
		File: resizes, Old: "return next, n != r.After, nil", New: "return next, true, nil",
	}, {
		Name: "a resize of stripes by an old number fails", Package: command, Tests: "ResizeOfStripesBesideAnother$",
		File: resizes, Old: "!errors.Is(err, striped.ErrSizeMismatch) {", New: "err != nil || true {",
	}, {
		Name: "a resize writes to the path of a lock", Package: command, Tests: "ResizeIsRefused$",
		File: resizes, Old: "i >= 0 {", New: "i > len(children) {",
	}, {
		Name: "a semaphore with the stored size insists on its own", Package: permits, Tests: "WithStoredSizeFollowsTheStoredOne$",
		File: "recipes/semaphore/size.go", Old: " && !s.adopts && ", New: " && s.permits != 0 && ",
	}, {
		Name: "a first size fails because another client was first", Package: permits, Tests: "DifferentSizesOfWhichTheStoredOneCounts$",
		File: "recipes/semaphore/size.go", Old: "case err == nil, errors.Is(err, framework.ErrBadVersion), ", New: "case err == nil, ",
	}}
}
