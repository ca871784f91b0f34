package faultsweep

// OnceMutants are bugs in runs that are done once. How old records are removed is in
// SweepMutants.
func OnceMutants() []Mutant {
	const (
		jobs   = "./recipes/once"
		run    = "recipes/once/run.go"
		record = "recipes/once/record.go"
		job    = "recipes/once/job.go"
		kept   = "internal/records/records.go"
		add    = "internal/records/add.go"
		names  = "internal/znode/once.go"
	)
	return []Mutant{{
		Name: "a loss after the record that the work has made fails Do", Package: jobs, Tests: "^TestFunctionRecordsAndLosesTheLease$",
		File: run, Old: "err == nil || r.isRecordedUnder(held)", New: "err == nil",
	}, {
		Name: "Do takes the record of another for that of its work", Package: jobs, Tests: "^TestAnotherRecordsAfterALoss$",
		File: record, Old: "found != nil && found.Token == held.Token()", New: "found != nil && found.Token != 0",
	}, {
		Name: "the cause of a context is taken for the record of a run", Package: jobs, Tests: "^TestCauseIsTheRecordOfAnotherRun$",
		File: run, Old: "\tif a.recorded {\n", New: "\tif a.recorded || (err != nil && context.Cause(ctx) != nil) {\n",
	}, {
		Name: "a run that is entered again is begun although it is recorded", Package: jobs, Tests: "^TestReentryAfterTheRecord$|^TestForksDoOneRun$",
		File: run, Old: "if !a.waited {", New: "if !a.waited && a.recorded {",
	}, {
		Name: "a key of any length", Package: jobs, Tests: "^TestLongKeys$",
		File: run, Old: "!ok || len(r.key) > maxKey {", New: "!ok || len(r.key) < -maxKey {",
	}, {
		Name: "a job has its records below those of another", Package: jobs, Tests: "^TestPathsThatAreRefused$",
		File: job, Old: "if strings.HasSuffix(path, \"/\"+znode.RecordsDir) {", New: "if strings.HasSuffix(path, \"//\"+znode.RecordsDir) {",
	}, {
		Name: "a lease on several locks", Package: jobs, Tests: "^TestRunInAMultilock$",
		File: record, Old: "if held.Token() == 0 {", New: "if held.Token() < 0 {",
	}, {
		Name: "a record that is never answered is tried a thousand times", Package: jobs, Tests: "^TestServerHangsUpOnEachAttempt$",
		File: add, Old: "const maxAttempts = 8", New: "const maxAttempts = 1000",
	}, {
		Name: "an unknown record is tried again after a sweep", Package: jobs, Tests: "^TestSessionLongerThanTheRetention$",
		File: add, Old: "\t\tif !isUnknown(ctx, err) {\n", New: "\t\tif isUnknown(ctx, err) {\n\t\t\treturn nil, errWritten\n\t\t} else {\n",
	}, {
		Name: "a tick that its own record has made too old is said to be forgotten", Package: jobs, Tests: "^TestLateTickIsRecordedTwice$",
		File: add, Old: "\t\t\tif existing != nil {\n", New: "\t\t\tif existing != nil && err == nil {\n",
	}, {
		Name: "Do fails if another process has done the run", Package: jobs, Tests: "^TestDoRunsOnce$",
		File: run, Old: "a.recorded, err = true, recordedBy(data)", New: "err = recordedBy(data)",
	}, {
		Name: "Do fails if the lease is lost once the run is recorded", Package: jobs, Tests: "^TestLeaseIsLostAfterTheRecord$",
		File: run, Old: "a.recorded = err == nil || r.isRecordedUnder(held)", New: "a.recorded = false",
	}, {
		Name: "Do succeeds although the run is not recorded", Package: jobs, Tests: "^TestLeaseIsLostBeforeTheRecord$|^TestForgottenWhileItRuns$",
		File: run, Old: "a.recorded = err == nil || r.isRecordedUnder(held)", New: "a.recorded = true",
	}, {
		Name: "Do records a run whose work has failed", Package: jobs, Tests: "^TestRunThatFails$",
		File: run, Old: "if err := fn(ctx, held); err != nil {", New: "if err := fn(ctx, held); err != nil && ctx.Err() != nil {",
	}, {
		Name: "the work is done again if the context ends before the record", Package: jobs, Tests: "^TestContextEndsBeforeTheRecord$",
		File: run, Old: "r.Record(context.WithoutCancel(ctx), held)", New: "r.Record(ctx, held)",
	}, {
		Name: "a call that must not wait does not look for the record", Package: jobs, Tests: "^TestRecordEndsTheWait$",
		File: run, Old: "\tif err := a.unrecorded(ctx, t.Client); err != nil {\n\t\treturn nil, err\n\t}\n", New: "",
	}, {
		Name: "a call that must not wait joins the queue of a run", Package: suites, Tests: "^TestRunOfAJob$",
		File: run, Old: "\tif err := t.CheckFree(ctx, a.queue); err != nil {\n\t\treturn nil, err\n\t}\n", New: "",
	}, {
		Name: "a run is begun without another look for its record", Package: jobs, Tests: "^TestRecordIsSeenOnAdmission$",
		File: run, Old: "\terr = a.unrecorded(ctx, c)\n\tother.Wait()", New: "\tother.Wait()",
	}, {
		Name: "a run that was admitted is not verified", Package: jobs, Tests: "^TestRecordIsSeenOnAdmission$",
		File: run, Old: "{ return a.verify(ctx, t.Client) }", New: "{ return nil }",
	}, {
		Name: "a tick is begun that is forgotten", Package: jobs, Tests: "^TestForgottenTickIsNotBegun$",
		File: run, Old: "room = a.job.records.Room(", New: "_ = a.job.records.Room(",
	}, {
		Name: "a waiter is not told of the record", Package: jobs, Tests: "^TestRecordEndsTheWait$",
		File: run, Old: "if err == nil && recorded {", New: "if err != nil && recorded {",
	}, {
		Name: "the lease on another run is taken for one on this", Package: jobs, Tests: "^TestRecordOfAnotherLease$",
		File: record, Old: "[]framework.Op{held.Check(), own}", New: "append([]framework.Op{held.Check(), own}[:1:1], held.Check())",
	}, {
		Name: "the zero time is a tick", Package: jobs, Tests: "^TestTicks$",
		File: names, Old: "err == nil && !at.IsZero() && TickName(at) == name", New: "err == nil && TickName(at) == name",
	}, {
		Name: "a mutex at the path of a run is taken for its lock", Package: jobs, Tests: "^TestMutexAtTheQueueOfARun$",
		File: job, Old: "Variant: variant, ", New: "",
	}, {
		Name: "a retention of less than a minute", Package: jobs, Tests: "^TestArguments$",
		File: job, Old: "if o.retention < minRetention {", New: "if o.retention < minRetention-1 {",
	}, {
		Name: "Record waits although its lease is over", Package: jobs, Tests: "^TestRecordWithoutAConnection$",
		File: record, Old: "\t\t\tcancel(held.Err())\n", New: "",
	}, {
		Name: "the loss of a lease before the record is another error", Package: jobs, Tests: "^TestLeaseIsLostBeforeTheRecord$",
		File: record, Old: "cmp.Or(held.Confirm(ctx), ", New: "cmp.Or(nil, ",
	}, {
		Name: "Record takes the record of another for its own", Package: jobs, Tests: "^TestAnotherRecordIsMadeMeanwhile$",
		File: record, Old: "parse(existing).Token != held.Token():", New: "parse(existing).Token > held.Token():",
	}, {
		Name: "Record takes its own record for that of another", Package: jobs, Tests: "^TestRecordIsNotAnswered$",
		File: record, Old: "parse(existing).Token != held.Token():", New: "parse(existing).Token <= held.Token():",
	}, {
		Name: "a run is recorded under no lease", Package: jobs, Tests: "^TestLeaseIsLostBeforeTheRecord$",
		File: record, Old: "[]framework.Op{held.Check(), own}", New: "[]framework.Op{held.Check(), own}[:0]",
	}, {
		Name: "a tick is recorded after its record was removed", Package: jobs, Tests: "^TestSweepComesBeforeTheRecord$",
		File: add, Old: "framework.CheckOp(r.Path, p.stat.Version)", New: "framework.CheckOp(r.Path, framework.AnyVersion)",
	}, {
		Name: "a record goes with the session that made it", Package: jobs, Tests: "^TestRecordsOutliveClients$",
		File: add, Old: "framework.CreateOp(r.PathOf(n), data, framework.Persistent)", New: "framework.CreateOp(r.PathOf(n), data, framework.Ephemeral)",
	}, {
		Name: "what goes with a record is left out", Package: jobs, Tests: "^TestRecordIsNotAnswered$",
		File: add, Old: "append(own, also...)...)", New: "append(own, also[:0]...)...)",
	}, {
		Name: "a sweep before the record fails it", Package: jobs, Tests: "^TestSweepComesBeforeTheRecord$",
		File: add, Old: "\tcase written || exists:\n", New: "\tcase exists:\n",
	}, {
		Name: "a sweep before the record is taken for the record", Package: jobs, Tests: "^TestSweepComesBeforeTheRecord$",
		File: add, Old: "\tcase written || exists:\n", New: "\tcase written:\n\t\treturn nil, nil\n\tcase exists:\n",
	}, {
		Name: "the failure of a check is another error", Package: jobs, Tests: "^TestLeaseIsLostBeforeTheRecord$",
		File: add, Old: "\tcase failed >= 0 && failed < version:\n", New: "\tcase failed > 0 && failed < version:\n",
	}, {
		Name: "a record that exists is an error", Package: jobs, Tests: "^TestAnotherRecordIsMadeMeanwhile$",
		File: add, Old: "exists := failed == create && ", New: "exists := failed == version && ",
	}, {
		Name: "a record that was deleted counts", Package: jobs, Tests: "^TestAnotherRecordIsDeleted$",
		File: add, Old: "\tcase written || exists:\n", New: "\tcase exists:\n\t\treturn nil, nil\n\tcase written:\n",
	}, {
		Name: "an operation that fails is not named", Package: jobs, Tests: "^TestOperationThatFails$",
		File: add, Old: "failed-len(own), multi.Err)", New: "failed, multi.Err)",
	}, {
		Name: "a record whose outcome is unknown is not tried again", Package: jobs, Tests: "^TestRecordIsNotAnswered$",
		File: add, Old: "\t\tunknown = err\n", New: "\t\treturn nil, err\n",
	}, {
		Name: "a record whose outcome is unknown is said to have failed", Package: jobs, Tests: "^TestLeaseIsLostAfterAnUnknownOutcome$",
		File: add, Old: "\t\terr = fmt.Errorf(\"%w; %w\", err, unknown)\n", New: "",
	}, {
		Name: "a record without data does not count", Package: jobs, Tests: "^TestRecordByHand$",
		File: kept, Old: "\t\tdata = []byte{}\n", New: "\t\tdata = nil\n",
	}, {
		Name: "the parent of records exists already, and the record fails", Package: jobs, Tests: "^TestParentOfRecordsIsMadeTwice$",
		File: kept, Old: "if err == nil || errors.Is(err, framework.ErrNodeExists) || isUnknown(ctx, err) {", New: "if err == nil || isUnknown(ctx, err) {",
	}, {
		Name: "a record is of unknown outcome because its parent was not answered", Package: jobs, Tests: "^TestParentOfRecordsIsNotAnswered$",
		File: kept, Old: "if err == nil || errors.Is(err, framework.ErrNodeExists) || isUnknown(ctx, err) {", New: "if err == nil || errors.Is(err, framework.ErrNodeExists) {",
	}, {
		Name: "the parent of records may store anything", Package: jobs, Tests: "^TestForeignParentOfRecords$",
		File: kept, Old: "\t\tif err == nil && !ok {\n", New: "\t\tif err != nil && !ok {\n",
	}, {
		Name: "a job takes one record too many", Package: jobs, Tests: "^TestTooManyRecords$",
		File: kept, Old: "case p.stat.NumChildren >= Max:", New: "case p.stat.NumChildren > Max:",
	}, {
		Name: "a key has a meaning in a path", Package: jobs, Tests: "^TestKeys$",
		File: names, Old: "if name := url.PathEscape(key) + keySuffix; ", New: "if name := key + keySuffix; ",
	}, {
		Name: "two long keys have one record", Package: jobs, Tests: "^TestKeys$",
		File: names, Old: "sum := sha256.Sum256([]byte(key))", New: "sum := sha256.Sum256([]byte(key[:longestName]))",
	}, {
		Name: "a tick depends on the time zone", Package: jobs, Tests: "^TestTicks$",
		File: names, Old: "return at.UTC().Format(time.RFC3339Nano)", New: "return at.Format(time.RFC3339Nano)",
	}, {
		Name: "two ticks of a second are one", Package: jobs, Tests: "^TestTicks$",
		File: names, Old: "return at.UTC().Format(time.RFC3339Nano)", New: "return at.UTC().Format(time.RFC3339)",
	}}
}
