package faultsweep

// DelayMutants are bugs in the lock-delay.
func DelayMutants() []Mutant {
	const (
		attempt   = "internal/lockdelay/attempt.go"
		look      = "internal/lockdelay/look.go"
		endings   = "internal/lockdelay/endings.go"
		stored    = "internal/lockdelay/lockdelay.go"
		recorded  = "internal/queue/recorded.go"
		try       = "internal/acquire/try.go"
		downgrade = "recipes/rwlock/downgrade.go"
		release   = "internal/hold/release.go"

		calm = "^TestDelaysWithoutFaults$/^aDelayedMutex$"
	)
	return []Mutant{{
		Name: "a holder is not recorded", Package: sweeps, Tests: calm,
		File: attempt, Old: "\tif done, err := a.write(ctx, over); err != nil || !done {\n", New: "\tif len(over) > 0 && err != nil {\n",
	}, {
		Name: "a holder is recorded after the grant", Package: sweeps, Tests: calm,
		File: attempt, Old: "\t_, err = a.client.Multi(ctx, ops...)\n", New: "\ttime.AfterFunc(time.Millisecond, func() { _, _ = a.client.Multi(context.Background(), ops...) })\n\terr = nil\n",
	}, {
		Name: "a holder is recorded although its node is gone", Package: sweeps, Tests: "^TestNodeIsDeletedBeforeItIsRecorded$",
		File: attempt, Old: "[]framework.Op{stands, framework.CreateOp(record, ", New: "[]framework.Op{framework.CreateOp(record, ",
	}, {
		Name: "a position whose node is gone when it is to be recorded fails", Package: sweeps, Tests: "^TestNodeIsDeletedBeforeItIsRecorded$",
		File: attempt, Old: "if refused.Index == 0 {", New: "if refused.Index == 0 {\n\t\t\treturn false, err\n\t\t}\n\t\tif refused.Index == 0 {",
	}, {
		Name: "a record that was not answered fails the downgrade", Package: sweeps, Tests: "^TestRecordIsNotAnswered$",
		File: attempt, Old: "case err == nil, errors.Is(err, framework.ErrNodeExists):", New: "case err == nil:",
	}, {
		Name: "a record whose outcome is unknown fails the acquire", Package: sweeps, Tests: "^TestRecordIsNotAnswered$",
		File: attempt, Old: "case framework.OutcomeOf(err) == framework.Unknown:\n\t\treturn false, nil", New: "case framework.OutcomeOf(err) == framework.Unknown:\n\t\treturn false, err",
	}, {
		Name: "a contender leaves the queue because another one has removed the record", Package: sweeps, Tests: "^TestAnotherContenderRemovesTheRecord$",
		File: attempt, Old: "if refused.Index == 0 {", New: "if refused.Index >= 0 {",
	}, {
		Name: "the delay counts from when the contender has joined", Package: sweeps, Tests: "^TestEndOfALongHold$",
		File: look, Old: "\te.seen = time.Now()\n\tdata, stat", New: "\te.seen = a.p.Made()\n\tdata, stat",
	}, {
		Name: "the delay counts from the last look", Package: sweeps, Tests: calm,
		File: endings, Old: "\te.seen[end.record] = end\n", New: "\tend.seen = time.Now().Add(time.Hour)\n\te.seen[end.record] = end\n",
	}, {
		Name: "no end is waited for", Package: sweeps, Tests: "^TestEndOfALongHold$",
		File: recorded, Old: "Before(all))) == 0", New: "Before(all))) >= 0",
	}, {
		Name: "holders that have ended count alone", Package: sweeps, Tests: "^TestHoldersThatLiveAndHaveEndedCountTogether$",
		File: recorded, Old: "all := slices.Concat(p.admission.ahead, others)", New: "all := slices.Clone(others)",
	}, {
		Name: "the record of an end stays when the delay is over", Package: sweeps, Tests: calm,
		File: attempt, Old: "\tfor len(over) > 0 {\n", New: "\tfor false {\n",
	}, {
		Name: "a holder counts as ended that only is not ahead", Package: "./internal/lockdelay", Tests: "^TestADowngradedReaderIsNotTakenForOneThatHasEnded$",
		File: look, Old: "if exists || err != nil {", New: "if exists && err != nil || err != nil {",
	}, {
		Name: "a contender with another delay is not refused", Package: sweeps, Tests: "^TestOtherDelaysAreRefused$",
		File: stored, Old: "case q.LockDelay != 0 && d != q.LockDelay:", New: "case q.LockDelay != 0 && d < 0:",
	}, {
		Name: "a contender without a delay does not obey the one that is stored", Package: sweeps, Tests: "^TestContenderWithoutADelayObeysTheOneThatIsStored$",
		File: stored, Old: "return p.Queue().LockDelay > 0 || slices", New: "return p.Queue().LockDelay > 0 && slices",
	}, {
		Name: "a delay that is stored later than the contender has joined counts", Package: sweeps, Tests: "^TestDelayIsStoredAgainAfterThePositionHasJoined$",
		File: attempt, Old: "err == nil && stat.Czxid > a.p.Created():", New: "err == nil && stat.Czxid < 0:",
	}, {
		Name: "an end is not marked", Package: sweeps, Tests: "^TestLockWhoseUsersDoNotWaitOpensAtLast$",
		File: look, Old: "_, _ = a.client.Set(ctx, e.record, data, 0)", New: "_ = data",
	}, {
		Name: "a mark is old at once", Package: sweeps, Tests: "^TestLockWhoseUsersDoNotWaitOpensAtLast$",
		File: look, Old: "/2 >= a.delay", New: "/2 >= 0*a.delay",
	}, {
		Name: "a mark is old after one delay", Package: sweeps, Tests: "^TestLockWhoseUsersDoNotWaitOpensAtLast$",
		File: look, Old: "/2 >= a.delay", New: "/1 >= a.delay",
	}, {
		Name: "a holder is marked from the beginning", Package: sweeps, Tests: "^TestEndOfALongHold$",
		File: look, Old: "if stat.Version == 0 {", New: "if e.isOld = a.made.Sub(stat.Mtime)/2 >= a.delay; stat.Version == 0 {",
	}, {
		Name: "an acquire that must not wait waits for a delay", Package: sweeps, Tests: "^TestLockWhoseUsersDoNotWaitOpensAtLast$",
		File: endings, Old: "\t\tcase atOnce:\n", New: "\t\tcase atOnce && a.watch == nil && e.Closed == nil:\n",
	}, {
		Name: "who waits for a delay does not notice that the record goes", Package: sweeps, Tests: "^TestRecordIsDeletedByHand$",
		File: endings, Old: "\tcase <-a.watch.Events():\n", New: "\tcase <-make(chan struct{}):\n",
	}, {
		Name: "a release looks like an unclean end", Package: sweeps, Tests: calm,
		File: try, Old: "Recorded: p.Record() != \"\",", New: "Recorded: p.Record() == \"\",",
	}, {
		Name: "what is admitted and not granted stays recorded", Package: sweeps, Tests: "^TestStripeOfAnotherNumberIsNotRecorded$",
		File: try, Old: "if err := t.Rely(&grant); err != nil {\n\t\tp.Unrecord()\n", New: "if err := t.Rely(&grant); err != nil {\n",
	}, {
		Name: "a position that was recorded and gives up stays recorded", Package: sweeps, Tests: "^TestPositionThatGivesUpIsNotRecorded$",
		File: "internal/queue/leave.go", Old: "\tLeave(ctx, p.client, p.path)\n\tp.Unrecord()\n", New: "\tLeave(ctx, p.client, p.path)\n",
	}, {
		Name: "a writer that has become a reader is not recorded", Package: sweeps, Tests: "^TestDelaysWithoutFaults$/^aDelayedReadWriteLock$",
		File: downgrade, Old: "if err := lockdelay.Record(ctx, p); err != nil {", New: "if err := error(nil); err != nil {",
	}, {
		Name: "a record is not removed by a release", Package: sweeps, Tests: calm,
		File: release, Old: "\tcase h.recorded:\n\t\treturn h.removeRecorded(ctx)\n", New: "",
	}, {
		Name: "a release without a connection leaves the record", Package: sweeps, Tests: "^TestReleaseWithoutAConnection$",
		File: "internal/hold/recorded.go", Old: "\tif !errors.Is(err, framework.ErrSessionLost) {\n", New: "\tif err == nil {\n",
	}, {
		Name: "a slot that is given up counts as released", Package: sweeps, Tests: "^TestLockThatIsGivenUpIsClosed$",
		File: release, Old: "\t\tif by == discarded {", New: "\t\tif by >= discarded {",
	}, {
		Name: "a lost lease that is released counts as released", Package: sweeps, Tests: "^TestLostLeaseThatIsReleased$",
		File: release, Old: "case by != givenUp && errors.Is(err, framework.ErrClosed):", New: "case by != givenUp && err != nil:",
	}, {
		Name: "a lock that is lost before a multi-lock has all is closed", Package: sweeps, Tests: "^TestLockThatIsLostBeforeAllAreHeldIsNotClosed$",
		File: release, Old: "case by == discarded: // there", New: "case false: // there",
	}, {
		Name: "a lock that the caller has and loses is not closed when a multi-lock lets it go last", Package: sweeps, Tests: "^TestLockThatIsLostBeforeAllAreHeldIsClosedIfTheCallerHasIt$",
		File: release, Old: "if by == discarded && h.wasCutShort() {", New: "if false {",
	}, {
		Name: "a claim that was given up counts for nothing when a multi-lock lets the lock go last", Package: sweeps, Tests: "^TestLockThatIsGivenUpIsClosedIfATryLetsItGoLast$",
		File: "internal/hold/recorded.go", Old: "by == givenUp || err != nil", New: "err != nil",
	}, {
		Name: "Close leaves the record of a lock that a multi-lock had while it waited", Package: sweeps, Tests: "^TestCloseBeforeAllAreHeldClosesNoLock$",
		File: release, Old: "if by == discarded && h.isClosing() {", New: "if false {",
	}, {
		Name: "a multi-lock that begins again leaves the record of what it had", Package: sweeps, Tests: "^TestEveryCallWithADelayFails$/^aDelayedMultiLock$",
		File: "internal/hold/together.go", Old: "{ _ = h.release(discarded) }", New: "{ _ = h.release(givenUp) }",
	}, {
		Name: "a multi-lock that begins again leaves the record of what it had, seen in histories", Package: histories, Tests: "^TestLockDelay$/^multi-lock$",
		File: "internal/hold/together.go", Old: "{ _ = h.release(discarded) }", New: "{ _ = h.release(givenUp) }",
	}, {
		Name: "locks with a lock-delay are acquired in one transaction", Package: sweeps, Tests: "^TestSeveralLocksAreRecorded$",
		File: try, Old: "\tcase endings == nil:\n\t\treturn queue.ErrNotFree\n", New: "\tcase endings == nil:\n\t\treturn p.AwaitAdmitted(ctx, also, atOnce)\n",
	}, {
		Name: "no end is waited for, seen in histories", Package: histories, Tests: "^TestLockDelay$/^mutex$",
		File: recorded, Old: "Before(all))) == 0", New: "Before(all))) >= 0",
	}, {
		Name: "holders that have ended count alone, seen in histories", Package: histories, Tests: "^TestLockDelay$/^single_queue$",
		File: recorded, Old: "all := slices.Concat(p.admission.ahead, others)", New: "all := slices.Clone(others)",
	}, {
		Name: "a writer that has become a reader is not recorded, seen in histories", Package: histories, Tests: "^TestLockDelay$/^rwlock$",
		File: downgrade, Old: "if err := lockdelay.Record(ctx, p); err != nil {", New: "if err := error(nil); err != nil {",
	}, {
		Name: "a release looks like an unclean end, seen in histories", Package: histories, Tests: "^TestLockDelay$/^leader$",
		File: try, Old: "Recorded: p.Record() != \"\",", New: "Recorded: p.Record() == \"\",",
	}}
}

// RestMutants are bugs in the minimum hold time.
func RestMutants() []Mutant {
	const (
		rest    = "internal/hold/rest.go"
		release = "internal/hold/release.go"
		resting = "^TestDelaysWithoutFaults$/^aRestingMutex$"
	)
	return []Mutant{{
		Name: "a release frees its slot before the minimum hold time is over", Package: sweeps, Tests: resting,
		File: release, Old: "if by < discarded && !lost && h.rest() > 0 {", New: "if by < discarded && !lost && h.rest() < 0 {",
	}, {
		Name: "the minimum hold time begins with the release", Package: sweeps, Tests: "^TestReleaseAwaitsTheMinimumHoldTime$",
		File: rest, Old: "return h.terms.MinHold - h.held()", New: "return h.terms.MinHold - 0*h.held()",
	}, {
		Name: "a release that need not wait waits for the minimum hold time", Package: sweeps, Tests: "^TestReleaseAsyncDoesNotWaitForTheMinimumHoldTime$",
		File: rest, Old: "if by == awaited {", New: "if by <= discarded {",
	}, {
		Name: "a release waits for the minimum hold time when its session is over", Package: sweeps, Tests: "^TestSessionEndsInTheMinimumHoldTime$",
		File: rest, Old: "\tcase <-h.Session().Done():\n", New: "\tcase <-make(chan struct{}):\n",
	}, {
		Name: "a lost lease has a minimum hold time", Package: sweeps, Tests: "^TestLostLeaseHasNoMinimumHoldTime$",
		File: release, Old: "\tif err := h.err(); err != nil {\n\t\tswitch {", New: "\tif err := h.err(); err != nil {\n\t\t<-time.After(h.rest())\n\t\tswitch {",
	}, {
		Name: "a resize has a minimum hold time", Package: sweeps, Tests: "^TestResizeHasNoMinimumHoldTime$",
		File: "recipes/striped/resize.go", Old: ", WithMinHold(0))", New: ")",
	}, {
		Name: "a release frees its slot before the minimum hold time is over, seen in histories", Package: histories, Tests: "^TestMinHold$/^semaphore$",
		File: release, Old: "if by < discarded && !lost && h.rest() > 0 {", New: "if by < discarded && !lost && h.rest() < 0 {",
	}}
}
