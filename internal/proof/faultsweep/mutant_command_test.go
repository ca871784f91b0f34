package faultsweep

const command = "./cmd/zkrecipes"

// CommandMutants are bugs in what the command records of a run.
func CommandMutants() []Mutant {
	return []Mutant{{
		Name: "a command that has failed is recorded", Package: command, Tests: "ExitCodesOfARun$",
		File: "cmd/zkrecipes/recorded.go", Old: " || o.end.exitCode() != 0", New: "",
	}, {
		Name: "a command that ends because of a loss is recorded", Package: command, Tests: "MaximumHoldTimeOfARun$",
		File: "cmd/zkrecipes/recorded.go", Old: " || o.lost", New: "",
	}, {
		Name: "the lock is released before the run is recorded", Package: command, Tests: "ARunIsDoneOnce$",
		File: "cmd/zkrecipes/recorded.go", Old: "err = j.recipe.run.Record(", New: "_ = j.held.Release()\nerr = j.recipe.run.Record(",
	}, {
		Name: "a loss after the record counts", Package: command, Tests: "LossAfterTheRecord$",
		File: "cmd/zkrecipes/finish.go", Old: "lease.ErrLost) && !recorded", New: "lease.ErrLost)",
	}, {
		Name: "a run that is not recorded ends with the code of the command", Package: command, Tests: "RecordsThatChange",
		File: "cmd/zkrecipes/finish.go", Old: "code = exitCode(unrecorded, exitConflict)", New: "_ = unrecorded",
	}, {
		Name: "a tick is the nearest multiple", Package: command, Tests: "TestTicks$",
		File: "cmd/zkrecipes/once.go", Old: "since := now.Sub(time.Unix(0, 0))", New: "now = now.Add(interval / 2)\nsince := now.Sub(time.Unix(0, 0))",
	}, {
		Name: "a command sees the tick of a run above its own", Package: command, Tests: "EnvironmentOfARun$",
		File: "cmd/zkrecipes/once.go", Old: "HasPrefix(entry, other+", New: "HasPrefix(entry, name+other+",
	}, {
		Name: "open records are not noticed", Package: command, Tests: "ACLsThatAreTooOpen$",
		File: "cmd/zkrecipes/once.go", Old: "return append(own, recipepath.SizedNodes(at+\"/\"+znode.RecordsDir)...)", New: "return own",
	}}
}
