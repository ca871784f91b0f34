package faultsweep

const leases = "./recipes/lease"

// RevocationMutants are bugs in how a holder is asked to give way.
func RevocationMutants() []Mutant {
	return []Mutant{{
		Name: "a request to give way undoes what somebody wrote meanwhile", Package: leases, Tests: "RevokeLosesARace",
		File: "framework/update.go", Old: "next, stat.Version)", New: "next, AnyVersion)",
	}, {
		Name: "a request to give way is given up when its answer is lost", Package: leases, Tests: "RevokeOfUnknownOutcome",
		File: "framework/update.go", Old: "errors.Is(err, ErrUnknownOutcome) && ctx.Err() == nil", New: "false",
	}, {
		Name: "who is asked to give way is forgotten", Package: leases, Tests: "RevokeKeepsWhoHolds",
		File: "internal/znode/revocation.go", Old: "!keep || len(data) == 0", New: "!keep || true",
	}, {
		Name: "who was asked to give way in line does not hear of it", Package: leases, Tests: "RevokeOfAContenderThatWaits",
		File: "internal/queue/admission.go", Old: "w, stat.Czxid, znode.RevocationRequested(data)", New: "w, stat.Czxid, znode.RevocationRequested(data[:0])",
	}, {
		Name: "nobody hears that it is to give way", Package: leases, Tests: "RevokeAsksAllLeases",
		File: "internal/hold/watch.go", Old: "if znode.RevocationRequested(data) {", New: "if false && znode.RevocationRequested(data) {",
	}, {
		Name: "an update goes by the data of long ago", Package: gating, Tests: "^TestUpdate",
		File: "framework/update.go", Old: "c.current(ctx, path, len(unsure) > 0)", New: "c.current(ctx, path, false)",
	}, {
		Name: "an update undoes what others write", Package: gating, Tests: "^TestUpdate",
		File: "framework/update.go", Old: "next, stat.Version)", New: "next, AnyVersion)",
	}, {
		Name: "an update is made twice when its answer is lost", Package: gating, Tests: "^TestUpdate",
		File: "framework/update.go", Old: "if unsure.made(data, stat) {", New: "if false {",
	}, {
		Name: "an update takes another's write for its own", Package: gating, Tests: "^TestUpdate",
		File: "framework/update.go", Old: "stat.Version == u.over.Version+1 && ", New: "",
	}, {
		Name: "an update that is given up says that nothing was written", Package: gating, Tests: "^TestUpdate",
		File: "framework/update.go", Old: "if err == nil || len(all) == 0 {", New: "if true {",
	}}
}
