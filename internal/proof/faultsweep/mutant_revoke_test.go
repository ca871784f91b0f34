package faultsweep

const leases = "./recipes/lease"

// RevocationMutants are bugs in requests for revocation, and in updates.
func RevocationMutants() []Mutant {
	return []Mutant{{
		Name: "a revocation request overwrites another write", Package: leases, Tests: "RevocationKeepsAConcurrentWrite",
		File: "framework/update.go", Old: "next, stat.Version)", New: "next, AnyVersion)",
	}, {
		Name: "a revocation request is not repeated when its answer is dropped", Package: leases, Tests: "RevocationOfUnknownOutcome",
		File: "framework/update.go", Old: "errors.Is(err, ErrUnknownOutcome) && ctx.Err() == nil", New: "false",
	}, {
		Name: "a revocation request overwrites the holder's data", Package: leases, Tests: "RevocationKeepsTheHoldersData",
		File: "internal/znode/revocation.go", Old: "!keep || len(data) == 0", New: "!keep || true",
	}, {
		Name: "a waiter does not see a revocation request", Package: leases, Tests: "RevocationOfAContenderThatWaits",
		File: "internal/queue/admission.go", Old: "= stat.Czxid, znode.RevocationRequested(data)", New: "= stat.Czxid, znode.RevocationRequested(data[:0])",
	}, {
		Name: "no holder sees a revocation request", Package: leases, Tests: "RevocationReachesAllLeases",
		File: "internal/hold/look.go", Old: "&& znode.RevocationRequested(data) {", New: "&& znode.RevocationRequested(data[:0]) {",
	}, {
		Name: "an update uses old data", Package: gating, Tests: "^TestUpdate",
		File: "framework/update.go", Old: "c.current(ctx, path, len(unsure) > 0)", New: "c.current(ctx, path, false)",
	}, {
		Name: "an update overwrites another write", Package: gating, Tests: "^TestUpdate",
		File: "framework/update.go", Old: "next, stat.Version)", New: "next, AnyVersion)",
	}, {
		Name: "an update is made twice when its answer is dropped", Package: gating, Tests: "^TestUpdate",
		File: "framework/update.go", Old: "if unsure.made(data, stat) {", New: "if false {",
	}, {
		Name: "an update takes the write of another client for its own", Package: gating, Tests: "^TestUpdate",
		File: "framework/update.go", Old: "stat.Version == u.over.Version+1 && ", New: "",
	}, {
		Name: "a cancelled update reports that nothing was written", Package: gating, Tests: "^TestUpdate",
		File: "framework/update.go", Old: "if err == nil || len(all) == 0 {", New: "if true {",
	}}
}
