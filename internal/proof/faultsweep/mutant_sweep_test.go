package faultsweep

// SweepMutants are bugs in how old records are removed.
func SweepMutants() []Mutant {
	const (
		jobs  = "./recipes/once"
		kept  = "internal/records/records.go"
		add   = "internal/records/add.go"
		sweep = "internal/records/sweep.go"
	)
	return []Mutant{{
		Name: "a client that comes late stops the one that sweeps", Package: jobs, Tests: "^TestLateSweeper$",
		File: sweep, Old: "if err != nil || !r.due(time.Now(), before.swept) {", New: "if err != nil {",
	}, {
		Name: "no records are removed", Package: jobs, Tests: "^TestOldRecordsGo$",
		File: add, Old: "\t\t\tr.sweepIfDue(ctx, p.swept)\n", New: "",
	}, {
		Name: "no records are removed, seen in histories", Package: histories, Tests: "^TestJobs$",
		File: add, Old: "\t\t\tr.sweepIfDue(ctx, p.swept)\n", New: "",
	}, {
		Name: "a job that has too many records keeps them", Package: jobs, Tests: "^TestTooManyRecords$",
		File: kept, Old: "\t\tr.sweepIfDue(ctx, p.swept)\n", New: "",
	}, {
		Name: "a tick is taken that was swept", Package: jobs, Tests: "^TestForgottenTickIsNotBegun$",
		File: kept, Old: "case !n.Tick.IsZero() && !n.Tick.After(p.swept):", New: "case n.Tick.IsZero() && n.Tick.After(p.swept):",
	}, {
		Name: "the tick at the moment swept is taken", Package: jobs, Tests: "^TestOldRecordsGo$",
		File: kept, Old: "!n.Tick.After(p.swept):", New: "n.Tick.Before(p.swept):",
	}, {
		Name: "a tick is recorded twice, seen in histories", Package: histories, Tests: "^TestJobs$",
		File: kept, Old: "case !n.Tick.IsZero() && !n.Tick.After(p.swept):", New: "case n.Tick.IsZero() && n.Tick.After(p.swept):",
	}, {
		Name: "each record is followed by a read for a sweep", Package: suites, Tests: "^TestRequestsAreAsDocumented$",
		File: sweep, Old: "if !r.due(time.Now(), swept) {", New: "if !r.due(time.Now(), time.Time{}) {",
	}, {
		Name: "records are swept as often as they are kept", Package: jobs, Tests: "^TestOldRecordsGo$",
		File: sweep, Old: ">= r.Retention/sweepsPerRetention", New: ">= r.Retention/1",
	}, {
		Name: "records are removed too early", Package: jobs, Tests: "^TestOldRecordsGo$",
		File: sweep, Old: "upTo := now.Add(-r.Retention)", New: "upTo := now.Add(-r.Retention / 2)",
	}, {
		Name: "records are removed too early, seen in histories", Package: histories, Tests: "^TestJobs$",
		File: sweep, Old: "upTo := now.Add(-r.Retention)", New: "upTo := now.Add(-r.Retention / 2)",
	}, {
		Name: "two clients begin to sweep at once", Package: jobs, Tests: "^TestTwoSweepAtOnce$",
		File: sweep, Old: "c.Set(ctx, r.Path, before.data, before.stat.Version)", New: "c.Set(ctx, r.Path, before.data, framework.AnyVersion)",
	}, {
		Name: "a client stores up to when it sweeps after another has done so", Package: jobs, Tests: "^TestTwoSweepAtOnce$",
		File: sweep, Old: "znode.Swept(upTo), begun.Version)", New: "znode.Swept(upTo), framework.AnyVersion)",
	}, {
		Name: "a client whose clock is ahead forgets too early", Package: jobs, Tests: "^TestWrongClocks$",
		File: sweep, Old: "\t\tnow = begun.Mtime\n", New: "\t\t_ = begun.Mtime\n",
	}, {
		Name: "a server whose clock is ahead has records forgotten too early", Package: jobs, Tests: "^TestWrongClocks$",
		File: sweep, Old: "if begun.Mtime.Before(now) {", New: "if !begun.Mtime.IsZero() {",
	}, {
		Name: "a server whose clock is behind has swept ticks taken again", Package: jobs, Tests: "^TestServerIsFarBehind$",
		File: sweep, Old: "if !r.due(now, before.swept) {", New: "if now.IsZero() {",
	}, {
		Name: "a client that was paused removes a younger record", Package: jobs, Tests: "^TestSweeperIsPaused$",
		File: sweep, Old: "framework.CheckOp(r.Path, version)", New: "framework.CheckOp(r.Path, framework.AnyVersion*min(1, version))",
	}, {
		Name: "a record that is gone ends the sweep", Package: jobs, Tests: "^TestRecordIsGoneBeforeTheSweep$",
		File: sweep, Old: "|| multi.Index == 0 || ", New: "|| multi.Index >= 0 || ",
	}, {
		Name: "a record with nodes below it ends the sweep", Package: jobs, Tests: "^TestRecordsThatCannotBeRemoved$",
		File: sweep, Old: " || errors.Is(err, framework.ErrNotEmpty)", New: "",
	}, {
		Name: "a sweep without permission tries each record, and says nothing", Package: jobs, Tests: "^TestRecordsThatMayNotBeRemoved$",
		File: sweep, Old: "|| multi.Index == 0 || !stays {", New: "|| multi.Index == 0 || err == nil || !stays && ctx == nil {",
	}, {
		Name: "the sweep removes what is not a record", Package: jobs, Tests: "^TestOldRecordsGo$",
		File: sweep, Old: "!ok || tick.After(upTo) {", New: "ok && tick.After(upTo) {",
	}, {
		Name: "the record of a key is as old as it can be", Package: jobs, Tests: "^TestOldRecordsGo$",
		File: sweep, Old: "!exists || stat.Ctime.After(upTo), err", New: "!exists || stat.Ctime.Before(time.Time{}), err",
	}, {
		Name: "the record of a tick is as old as its node", Package: jobs, Tests: "^TestOldRecordsGo$",
		File: sweep, Old: "!ok || tick.After(upTo) {", New: "!ok || tick.After(upTo) && tick.IsZero() {",
	}, {
		Name: "only the records of ticks go", Package: jobs, Tests: "^TestOldRecordsGo$",
		File: sweep, Old: "!ok || tick.After(upTo) {", New: "!ok || tick.IsZero() || tick.After(upTo) {",
	}}
}
