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
		names  = "internal/znode/once.go"
	)
	return []Mutant{{
		Name: "Do fails if another process has done the run", Package: jobs, Tests: "^TestDoRunsOnce$",
		File: run, Old: "if recorded || (!begun && errors.Is(err, ErrRecorded)) {", New: "if recorded || (begun && errors.Is(err, ErrRecorded)) {",
	}, {
		Name: "Do takes the record of another job for its own", Package: jobs, Tests: "^TestWorkThatFindsAnotherRecord$",
		File: run, Old: "\t\tbegun = true\n", New: "",
	}, {
		Name: "Do fails if the lease is lost once the run is recorded", Package: jobs, Tests: "^TestLeaseIsLostAfterTheRecord$",
		File: run, Old: "recorded = err == nil\n", New: "recorded = recorded && err == nil\n",
	}, {
		Name: "Do succeeds although the run is not recorded", Package: jobs, Tests: "^TestLeaseIsLostBeforeTheRecord$|^TestForgottenWhileItRuns$",
		File: run, Old: "recorded = err == nil\n", New: "recorded = true\n",
	}, {
		Name: "Do records a run whose work has failed", Package: jobs, Tests: "^TestRunThatFails$",
		File: run, Old: "if err := fn(ctx, held); err != nil {", New: "if err := fn(ctx, held); err != nil && ctx.Err() != nil {",
	}, {
		Name: "the work is done again if the context ends before the record", Package: jobs, Tests: "^TestContextEndsBeforeTheRecord$",
		File: run, Old: "r.Record(context.WithoutCancel(ctx), held)", New: "r.Record(ctx, held)",
	}, {
		Name: "a call that must not wait does not look for the record", Package: jobs, Tests: "^TestRecordEndsTheWait$",
		File: run, Old: "\tif err := r.unrecorded(ctx, t.Client); err != nil {\n\t\treturn nil, err\n\t}\n", New: "",
	}, {
		Name: "a call that must not wait joins the queue of a run", Package: suites, Tests: "^TestRunOfAJob$",
		File: run, Old: "\tif err := t.CheckFree(ctx, r.queue); err != nil {\n\t\treturn nil, err\n\t}\n", New: "",
	}, {
		Name: "a run is begun without another look for its record", Package: jobs, Tests: "^TestRecordIsSeenOnAdmission$",
		File: run, Old: "\terr = r.unrecorded(ctx, c)\n\tother.Wait()", New: "\tother.Wait()",
	}, {
		Name: "a run that was admitted is not verified", Package: jobs, Tests: "^TestRecordIsSeenOnAdmission$",
		File: run, Old: "{ return r.verify(ctx, t.Client) }", New: "{ return nil }",
	}, {
		Name: "a tick is begun that is forgotten", Package: jobs, Tests: "^TestForgottenTickIsNotBegun$",
		File: run, Old: "room = r.job.records.Room(", New: "_ = r.job.records.Room(",
	}, {
		Name: "a waiter is not told of the record", Package: jobs, Tests: "^TestRecordEndsTheWait$",
		File: run, Old: "if err == nil && recorded {", New: "if err != nil && recorded {",
	}, {
		Name: "the lease on another run is taken for one on this", Package: jobs, Tests: "^TestRecordOfAnotherLease$",
		File: run, Old: "return path.Dir(held.Path()) == r.recipe.Path }", New: "return path.Dir(held.Path()) != r.recipe.Of }",
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
		Name: "a lease that was released is used for a record", Package: jobs, Tests: "^TestRecordOfAnotherLease$",
		File: record, Old: "\t\terr = held.Err()\n", New: "",
	}, {
		Name: "Record waits although its lease is over", Package: jobs, Tests: "^TestRecordWithoutAConnection$",
		File: record, Old: "\t\t\tcancel(held.Err())\n", New: "",
	}, {
		Name: "the loss of a lease before the record is another error", Package: jobs, Tests: "^TestLeaseIsLostBeforeTheRecord$",
		File: record, Old: "if lost := held.Confirm(ctx); lost != nil {", New: "if lost := held.Confirm(ctx); lost == nil {",
	}, {
		Name: "Record takes the record of another for its own", Package: jobs, Tests: "^TestAnotherRecordIsMadeMeanwhile$",
		File: record, Old: "parse(existing).Token != held.Token():", New: "parse(existing).Token > held.Token():",
	}, {
		Name: "Record takes its own record for that of another", Package: jobs, Tests: "^TestRecordIsNotAnswered$",
		File: record, Old: "parse(existing).Token != held.Token():", New: "parse(existing).Token <= held.Token():",
	}, {
		Name: "a run is recorded under no lease", Package: jobs, Tests: "^TestLeaseIsLostBeforeTheRecord$",
		File: kept, Old: "own := []framework.Op{check, ", New: "own := []framework.Op{framework.CheckOp(r.Path, framework.AnyVersion), ",
	}, {
		Name: "a tick is recorded after its record was removed", Package: jobs, Tests: "^TestSweepComesBeforeTheRecord$",
		File: kept, Old: "framework.CheckOp(r.Path, p.stat.Version)", New: "framework.CheckOp(r.Path, framework.AnyVersion)",
	}, {
		Name: "a record goes with the session that made it", Package: jobs, Tests: "^TestRecordsOutliveClients$",
		File: kept, Old: "framework.CreateOp(r.PathOf(n), data, framework.Persistent)", New: "framework.CreateOp(r.PathOf(n), data, framework.Ephemeral)",
	}, {
		Name: "what goes with a record is left out", Package: jobs, Tests: "^TestRecordIsNotAnswered$",
		File: kept, Old: "append(own, also...)...)", New: "append(own, also[:0]...)...)",
	}, {
		Name: "a sweep before the record fails it", Package: jobs, Tests: "^TestSweepComesBeforeTheRecord$",
		File: kept, Old: "\tcase failed == 1: // records were removed\n\t\treturn nil, true, nil\n", New: "",
	}, {
		Name: "a sweep before the record is taken for the record", Package: jobs, Tests: "^TestSweepComesBeforeTheRecord$",
		File: kept, Old: "\tcase failed == 1: // records were removed\n\t\treturn nil, true, nil\n", New: "\tcase failed == 1:\n\t\treturn nil, false, nil\n",
	}, {
		Name: "the failure of a check is another error", Package: jobs, Tests: "^TestLeaseIsLostBeforeTheRecord$",
		File: kept, Old: "\tcase failed == 0:\n", New: "\tcase failed == 0 && err == nil:\n",
	}, {
		Name: "a record that exists is an error", Package: jobs, Tests: "^TestRecordIsNotAnswered$",
		File: kept, Old: "\tcase failed == 2 && errors.Is(err, framework.ErrNodeExists):\n", New: "\tcase failed == 2 && err == nil:\n",
	}, {
		Name: "a record that was deleted counts", Package: jobs, Tests: "^TestAnotherRecordIsDeleted$",
		File: kept, Old: "return existing, existing == nil, err", New: "return existing, false, err",
	}, {
		Name: "an operation that fails is not named", Package: jobs, Tests: "^TestOperationThatFails$",
		File: kept, Old: "failed-len(own), multi.Err)", New: "failed, multi.Err)",
	}, {
		Name: "a record whose outcome is unknown is not tried again", Package: jobs, Tests: "^TestRecordIsNotAnswered$",
		File: kept, Old: "\t\t\tunknown = err\n", New: "\t\t\treturn nil, err\n",
	}, {
		Name: "a record whose outcome is unknown is said to have failed", Package: jobs, Tests: "^TestLeaseIsLostAfterAnUnknownOutcome$",
		File: kept, Old: "\t\t\treturn nil, fmt.Errorf(\"%w; %w\", err, unknown)\n", New: "\t\t\treturn nil, err\n",
	}, {
		Name: "a record is tried again after every error", Package: jobs, Tests: "^TestForgottenWhileItRuns$",
		File: kept, Old: "return errors.Is(err, framework.ErrUnknownOutcome) && ", New: "return err != nil && framework.OutcomeOf(err) == framework.Unknown && ",
	}, {
		Name: "a record without data does not count", Package: jobs, Tests: "^TestRecordByHand$",
		File: kept, Old: "\t\tdata = []byte{}\n", New: "\t\tdata = nil\n",
	}, {
		Name: "the parent of records exists already, and the record fails", Package: jobs, Tests: "^TestParentOfRecordsIsMadeTwice$",
		File: kept, Old: "if errors.Is(err, framework.ErrNodeExists) || isUnknown(ctx, err) {", New: "if isUnknown(ctx, err) {",
	}, {
		Name: "a record is of unknown outcome because its parent was not answered", Package: jobs, Tests: "^TestParentOfRecordsIsNotAnswered$",
		File: kept, Old: "if errors.Is(err, framework.ErrNodeExists) || isUnknown(ctx, err) {", New: "if errors.Is(err, framework.ErrNodeExists) {",
	}, {
		Name: "the parent of records may store anything", Package: jobs, Tests: "^TestForeignParentOfRecords$",
		File: kept, Old: "\tif err == nil && !ok {\n", New: "\tif err != nil && !ok {\n",
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
