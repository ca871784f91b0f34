package faultsweep

const (
	trusting  = "./framework/internal/guard"
	gating    = "./framework"
	oldLeader = "^TestHoldersWithAnOldLeader$"
)

// TrustMutants are bugs in what a session is trusted for: because of them two leases
// could be valid at once.
func TrustMutants() []Mutant {
	return []Mutant{{
		Name: "a sync vouches for a session", Package: sweeps, Tests: oldLeader,
		File: "framework/internal/guard/trust.go", Old: "if byQuorum[f.op] && code == 0 && end.committed {",
		New: "if (byQuorum[f.op] || f.op == OpSync) && code == 0 && end.committed {",
	}, {
		Name: "a handshake that revalidates vouches for a session", Package: sweeps, Tests: oldLeader,
		File: "framework/internal/guard/trust.go", Old: "t.timeout = min(t.timeout, timeout)", New: "t.timeout, t.vouched = min(t.timeout, timeout), sent",
	}, {
		Name: "nothing relies on a session", Package: sweeps, Tests: oldLeader,
		File: "framework/internal/guard/trust.go", Old: "\tt.relied++\n", New: "",
	}, {
		Name: "what a quorum vouched for is trusted for the whole timeout", Package: suites, Tests: "^TestMutex$/^a_holder's_server_loses",
		File: "framework/internal/guard/trust.go", Old: "age(t.vouched, now) < window):", New: "age(t.vouched, now) < t.timeout):",
	}, {
		Name: "a transaction counts from its answer", Package: trusting, Tests: "WhatAnAnswerProves",
		File: "framework/internal/guard/trust.go", Old: "trust.committed(f.at, now)", New: "trust.committed(now, now)",
	}, {
		Name: "a request counts from its answer", Package: trusting, Tests: "WhatAnAnswerProves",
		File: "framework/internal/guard/trust.go", Old: "trust.answer(f.at, now,", New: "trust.answer(now, now,",
	}, {
		Name: "an answer that the session is gone proves it", Package: trusting, Tests: "WhatAnAnswerProves",
		File: "framework/internal/guard/trust.go", Old: "case noSession(code), noSession(end.code):", New: "case false:",
	}, {
		Name: "a multi that failed vouches for a session", Package: trusting, Tests: "WhatAnAnswerProves",
		File: "framework/internal/guard/trust.go", Old: "code == 0 && end.committed {", New: "code == 0 {",
	}, {
		Name: "a deadline that was reached moves again", Package: trusting, Tests: "DeadlineThatWasReached|NeverRevived",
		File: "framework/internal/guard/trust.go", Old: "case t.over(now):\n\t\treturn\n", New: "",
	}, {
		Name: "a session that is about to expire is relied on", Package: trusting, Tests: "AboutToExpire|IsBeingEnded",
		File: "framework/internal/guard/trust.go", Old: "t.doubtful = t.doubtful || age(t.vouched, now) >= trustWindow(t.timeout)", New: "",
	}, {
		Name: "the wall clock does not count", Package: trusting, Tests: "ByTheWallClock",
		File: "framework/internal/guard/trust.go", Old: "return max(now.Sub(then), now.Round(0).Sub(then.Round(0)))", New: "return now.Sub(then)",
	}, {
		Name: "requests go out in a session that is over", Package: gating, Tests: "AwaitChecksTheClock",
		File: "framework/gate.go", Old: "for {\n\t\tif err := s.Err(); err != nil {", New: "for {\n\t\tif err := context.Cause(s.ctx); err != nil {",
	}, {
		Name: "a request number is used twice in a session", Package: trusting, Tests: "NoNumberIsUsedTwice",
		File: "framework/internal/guard/vouch.go", Old: "xidVouch+1-c.guard.vouches.Add(1)", New: "xidVouch",
	}, {
		Name: "a server of an earlier epoch is attached to", Package: trusting, Tests: "GreatestZxid",
		File: "framework/internal/guard/writing.go", Old: "frame = withZxid(frame, c.guard.zxid.Load())", New: "frame = withZxid(frame, 0)",
	}, {
		Name: "watches that were not set again count", Package: trusting, Tests: "^TestWatchesThatAreRefused$",
		File: "framework/internal/guard/attach.go", Old: "c.guard.events.WatchesLost()", New: "",
	}, {
		Name: "the gate opens for an older connection", Package: gating, Tests: "^TestGateIsOpenWhileRequestsMayBeSent$",
		File: "framework/gate.go", Old: "if g.session.guard.Live() == c {", New: "if true {",
	}, {
		Name: "a lease is granted although no quorum vouches for its session", Package: trusting, Tests: "OlderProof",
		File: "framework/internal/guard/trust.go", Old: "age(t.vouched, now) < t.timeout/2", New: "age(t.vouched, now) < trustWindow(t.timeout)*9/10",
	}, {
		Name: "a hold is not notified that its node is gone", Package: suites, Tests: "^TestMutex$/^the_node_of_a_holder_is_deleted_without",
		File: "internal/hold/hold.go", Old: "h.doom(missing(err))", New: "",
	}, {
		Name: "a lost hold is relied on", Package: suites, Tests: "^TestMutex$/^the_node_of_a_holder_is_deleted_without",
		File: "internal/hold/hold.go", Old: "h.end()\n\tfor", New: "h.over.Give()\n\tfor",
	}}
}
