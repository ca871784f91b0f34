package faultsweep

const leases = "./recipes/lease"

// RevocationMutants are bugs in how a holder is asked to give way.
func RevocationMutants() []Mutant {
	return []Mutant{{
		Name: "a request to give way undoes what somebody wrote meanwhile", Package: leases, Tests: "RevokeLosesARace",
		File: "recipes/lease/revoke.go", Old: "marked, stat.Version)", New: "marked, 0*stat.Version-1)",
	}, {
		Name: "a request to give way is given up when its answer is lost", Package: leases, Tests: "RevokeOfUnknownOutcome",
		File: "recipes/lease/revoke.go", Old: "errors.Is(err, framework.ErrUnknownOutcome) && ctx.Err() == nil", New: "false",
	}, {
		Name: "who is asked to give way is forgotten", Package: leases, Tests: "RevokeKeepsWhoHolds",
		File: "internal/znode/mark.go", Old: "!keep || len(data) == 0", New: "!keep || true",
	}, {
		Name: "who was asked to give way in line does not hear of it", Package: leases, Tests: "RevokeOfAContenderThatWaits",
		File: "internal/queue/place.go", Old: "w, stat.Czxid, znode.Revoked(data)", New: "w, stat.Czxid, znode.Revoked(data[:0])",
	}, {
		Name: "nobody hears that it is to give way", Package: leases, Tests: "RevokeAsksAllLeases",
		File: "internal/hold/watch.go", Old: "if znode.Revoked(data) {", New: "if false && znode.Revoked(data) {",
	}}
}
