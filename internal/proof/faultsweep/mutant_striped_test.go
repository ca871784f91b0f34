package faultsweep

// StripedMutants are bugs in striped locks.
func StripedMutants() []Mutant {
	const (
		stripes   = "./recipes/striped"
		sharing   = "./internal/shares"
		number    = "recipes/striped/number.go"
		resize    = "recipes/striped/resize.go"
		takeAny   = "recipes/striped/any.go"
		entering  = "internal/shares/shares.go"
		share     = "internal/shares/call.go"
		keys      = "recipes/striped/striped.go"
		search    = "internal/shares/search.go"
		preferred = "internal/shares/known.go"
		try       = "internal/acquire/try.go"
	)
	return []Mutant{{
		Name: "the number of stripes is not verified", Package: stripes, Tests: "^TestNumberChangesWhileOthersWait$",
		File: number, Old: "\t\t\tif err := l.compare(data); err != nil {\n\t\t\t\treturn err\n\t\t\t}\n", New: "",
	}, {
		Name: "the number of stripes is verified before the admission", Package: stripes, Tests: "^TestNumberChangesWhileOthersWait$",
		File: number, Old: "\treturn l.compare(data)\n}\n\n// verify", New: "\tif l.agreed.Load() {\n\t\tt.Verify = nil\n\t}\n\treturn l.compare(data)\n}\n\n// verify",
	}, {
		Name: "the number of stripes is not verified for a call that takes any", Package: sweeps, Tests: "^TestWithoutFaults$/anyResizedStripe",
		File: takeAny, Old: "\t\t\t\theld, share, err = l.shares", New: "\t\t\t\tt.Verify = nil\n\t\t\t\theld, share, err = l.shares",
	}, {
		Name: "a number of stripes is stored although another one was stored meanwhile", Package: stripes, Tests: "^TestNumberIsStoredOnce$",
		File: number, Old: "znode.Stripes(len(l.stripes)), stat.Version)", New: "znode.Stripes(len(l.stripes)), framework.AnyVersion*min(1, stat.Version+1))",
	}, {
		Name: "a number of stripes is stored over another one", Package: stripes, Tests: "^TestNumberIsStoredOnce$",
		File: number, Old: "if err != nil || !znode.IsUnset(data) {", New: "if err != nil || !znode.IsUnset(data) && data == nil {",
	}, {
		Name: "a number of stripes whose storing was not answered fails the acquire", Package: sweeps, Tests: "^TestEveryCallFails$/aStripe",
		File: number, Old: "if errors.Is(err, framework.ErrBadVersion) || framework.OutcomeOf(err) == framework.Unknown {", New: "if errors.Is(err, framework.ErrBadVersion) {",
	}, {
		Name: "a stripe is granted to who joined before the number changed", Package: stripes, Tests: "^TestTokensOfAKeyGrowAcrossResizes$",
		File: number, Old: "if stat.Version > 1 && czxid < stat.Mzxid {", New: "if stat.Version > 1 && czxid < 0 {",
	}, {
		Name: "stripes do not look for other recipes", Package: suites, Tests: "^TestTwoRecipesOnOnePath$",
		File: number, Old: "znode.Stripe); err != nil {\n", New: "znode.Stripe); err != nil && ctx == nil {\n",
	}, {
		Name: "a stripe is re-entered by another number", Package: stripes, Tests: "^TestReentryWithAnotherNumber$",
		File: keys, Old: "Variant: uint16(n), ", New: "",
	}, {
		Name: "a resize does not hold the last stripe", Package: stripes, Tests: "^TestResizeWaitsForAllHolders$",
		File: resize, Old: "for i := range l.stripes {", New: "for i := range l.stripes[:max(1, len(l.stripes)-1)] {",
	}, {
		Name: "a resize does not hold the last stripe, in a sweep", Package: sweeps, Tests: "^TestWithoutFaults$/aResizedStripe|^TestEveryCallFails$/aResizedStripe",
		File: resize, Old: "for i := range l.stripes {", New: "for i := range l.stripes[:max(1, len(l.stripes)-1)] {",
	}, {
		Name: "a resize does not check that it still holds all stripes", Package: stripes, Tests: "^TestNodeIsDeletedBeforeTheNumberChanges$",
		File: resize, Old: "c.Multi(ctx, held.Check(), framework", New: "c.Multi(ctx, framework",
	}, {
		Name: "a resize changes the number although it has changed meanwhile", Package: stripes, Tests: "^TestResizeOverwritesNothingElse$",
		File: resize, Old: "znode.Stripes(n), stat.Version)", New: "znode.Stripes(n), framework.AnyVersion*min(1, stat.Version+1))",
	}, {
		Name: "stripes are handed over after a change of their number that is not known yet", Package: stripes, Tests: "^TestResizeThatIsCancelledKeepsTheStripes$",
		File: resize, Old: "\tall.KeepUntilDeleted()\n", New: "",
	}, {
		Name: "a resize whose outcome is unknown says that it failed", Package: stripes, Tests: "^TestEachRequestOfAResizeFails$",
		File: resize, Old: "\t\t\tunknown = err\n", New: "\t\t\t_ = unknown\n",
	}, {
		Name: "the loss of a stripe during a resize is another error", Package: stripes, Tests: "^TestNodeIsDeletedBeforeTheNumberChanges$",
		File: resize, Old: "return cmp.Or(unknown, held.Confirm(ctx), err)", New: "return cmp.Or(unknown, err)",
	}, {
		Name: "a resize that fails keeps the stripes that it has", Package: stripes, Tests: "^TestResizeWaitsForAllHolders$",
		File: resize, Old: "\t\t\tall.Undo()\n", New: "",
	}, {
		Name: "a resize re-enters the stripe of its caller", Package: stripes, Tests: "^TestResizeByAHolder$",
		File: resize, Old: "if err == nil && !first {", New: "if err == nil && !first && len(owns.Done()) > 0 {",
	}, {
		Name: "a resize waits for each stripe as long as for all", Package: stripes, Tests: "^TestTimeoutBoundsTheWaitForAllStripes$",
		File: resize, Old: "acquire.Left(timeout, start)", New: "acquire.Left(timeout, start.Add(time.Since(start)))",
	}, {
		Name: "a call says that it has the share where it waited", Package: sweeps, Tests: "^TestEveryCallFails$/anyStripe",
		File: share, Old: "\t\treturn held, to, true\n", New: "\t\treturn held, at, true\n",
	}, {
		Name: "a call for any share does not re-enter", Package: stripes, Tests: "^TestAnyShareIsReentrant$",
		File: entering, Old: "range s.slots {", New: "range s.slots[:0] {",
	}, {
		Name: "a call for any share re-enters the first one only", Package: histories, Tests: "^TestStripes$",
		File: entering, Old: "range s.slots {", New: "range s.slots[:1] {",
	}, {
		Name: "a call that moves leaves its node behind", Package: stripes, Tests: "^TestMovesToAFreeShare$",
		File: share, Old: "\t\t\tp.Abandon()\n", New: "\t\t\tp.End()\n",
	}, {
		Name: "a share counts as used for ever", Package: stripes, Tests: "^TestKeepsToItsShare$",
		File: share, Old: "hold.OnEnd(held, func() {\n\t\tc.known.leave(at)\n", New: "hold.OnEnd(held, func() {\n",
	}, {
		Name: "a call that has not been granted a share counts as its user", Package: stripes, Tests: "^TestCallsThatFailAreNoUsers$",
		File: share, Old: "\tif err != nil {\n\t\tc.known.leave(at)\n\t\treturn nil, err\n", New: "\tif err != nil {\n\t\treturn nil, err\n",
	}, {
		Name: "a lease is that of the share where the call has looked last", Package: stripes, Tests: "^TestAnotherClientIsFasterAtTheFreeShare$",
		File: share, Old: "\t\tc.queueAt(at)\n\t\theld, err = c.try.Grant(p)", New: "\t\theld, err = c.try.Grant(p)",
	}, {
		Name: "a share is granted although another contender was faster", Package: stripes, Tests: "^TestAnotherClientIsFasterAtTheFreeShare$",
		File: try, Old: "\tif err != nil {\n\t\tp.Leave(ctx)\n", New: "\tif err != nil && !errors.Is(err, queue.ErrNotFree) {\n\t\tp.Leave(ctx)\n",
	}, {
		Name: "a node at a share that is not free after all is left there", Package: stripes, Tests: "^TestAnotherClientIsFasterAtTheFreeShare$",
		File: try, Old: "\tif err != nil {\n\t\tp.Leave(ctx)\n", New: "\tif err != nil {\n\t\tp.End()\n",
	}, {
		Name: "a call that gives up stays in its queue", Package: stripes, Tests: "^TestCallsThatFailAreNoUsers$",
		File: share, Old: "\t\t\t\tc.try.GiveUp(p)\n", New: "\t\t\t\tp.End()\n",
	}, {
		Name: "no call looks when the one that was to has gone", Package: sharing, Tests: "^TestCallThatIsToLookIsCancelled$",
		File: share, Old: "\t\t\t\tc.search.left()\n", New: "\t\t\t\t_ = look\n",
	}, {
		Name: "the next call does not look after one that has left", Package: sharing, Tests: "^TestAnotherCallLooksAfterOneThatHasLeft$",
		File: search, Old: "\ts.looks = nil\n\ts.arm(s.pause)\n\ts.endIfIdle()\n", New: "\ts.looks = nil\n\ts.endIfIdle()\n",
	}, {
		Name: "the next call does not look after one that has found a share", Package: stripes, Tests: "^TestNextCallLooksAtOnce$",
		File: search, Old: "\ts.arm(func() time.Duration { return 0 })\n", New: "",
	}, {
		Name: "calls of one process gather at a share", Package: stripes, Tests: "^TestSharesOfOneValue$",
		File: preferred, Old: "cmp.Or(cmp.Compare(a.users, b.users), ", New: "cmp.Or(",
	}, {
		Name: "a call goes to the share that was not free", Package: stripes, Tests: "^TestKeepsToItsShare$",
		File: preferred, Old: ", cmp.Compare(a.busy, b.busy))", New: ", 0*cmp.Compare(a.busy, b.busy))",
	}, {
		Name: "all processes begin with the same share", Package: stripes, Tests: "^TestKeepsToItsShare$",
		File: preferred, Old: "first := int(uint64(process) %", New: "first := int(0*uint64(process) %",
	}, {
		Name: "a call stays behind a holder that hangs", Package: stripes, Tests: "^TestCallBehindAHolderThatHangs$",
		File: preferred, Old: "time.Since(here.since) < hangTime {", New: "time.Since(here.since) < 10000*hangTime {",
	}, {
		Name: "a call that begins to wait does not look before the others", Package: stripes, Tests: "^TestNewCallBesideOneThatHasWaitedForLong$",
		File: share, Old: "\tc.search.hasten()\n\tfor {\n", New: "\tfor {\n",
	}, {
		Name: "nobody looks at a share that a lease has left", Package: stripes, Tests: "^TestShareThatIsLeftByTheSameValue$",
		File: share, Old: "\t\tc.search.hasten()\n\t})", New: "\t})",
	}, {
		Name: "data that were known outlive their connection", Package: "./framework", Tests: "^TestKnownDataDoNotOutliveTheirConnection$",
		File: "framework/watch_table.go", Old: "\t\tentry.known = false // events", New: "\t\t// events",
	}, {
		Name: "a resize holds its stripes no longer than others do", Package: stripes, Tests: "^TestResizeWithAMaximumHoldTime$",
		File: resize, Old: "WithMaxHold(0), ", New: "Option(func(*options) {}), ",
	}, {
		Name: "the permits of Java's semaphores are overlooked", Package: stripes, Tests: "^TestCuratorsSemaphoreAtThePath$",
		File: "internal/recipepath/other_recipes.go", Old: "if !slices.Contains(own, znode.Permit) && ", New: "if len(own) > 9 && ",
	}, {
		Name: "a key has another stripe than other programs have", Package: stripes, Tests: "^TestStripeOfAKey$",
		File: keys, Old: "binary.BigEndian.Uint64(sum[:])", New: "binary.BigEndian.Uint64(sum[8:])",
	}, {
		Name: "a stripe of two keys is locked twice", Package: stripes, Tests: "^TestSeveralKeysTogether$",
		File: keys, Old: "!slices.Contains(mutexes, mutex)", New: "!slices.Contains(mutexes[:0], mutex)",
	}, {
		Name: "an acquire that must not wait awaits the number for longer than other answers", Package: stripes, Tests: "^TestNumberIsNotAwaitedForLong$",
		File: try, Old: "err = t.Verify(t.wait.ctx, g.Path, ", New: "err = t.Verify(ctx, g.Path, ",
	}, {
		Name: "data that was read before a change is known after it", Package: "./framework", Tests: "^TestKnownDataCostNothing$",
		File: "framework/watch_table.go", Old: "entry := t.entries[watchKey{kind, path}]; entry != nil {\n\t\t\tt.remove(entry)\n", New: "entry := t.entries[watchKey{kind, path}]; entry != nil {\n\t\t\tif !entry.known {\n\t\t\t\tt.remove(entry)\n\t\t\t}\n",
	}, {
		Name: "nothing that was read is known", Package: stripes, Tests: "^TestNumberIsKnown$",
		File: "framework/watch_known.go", Old: "\tf.own.remember(f.value, f.stat)\n\tf.own.drop()\n", New: "\tf.own.drop()\n\tf.own.remember(f.value, f.stat)\n",
	}, {
		Name: "the watch of what is known is removed while it is needed", Package: stripes, Tests: "^TestNumberIsKnown$",
		File: "framework/watch_known.go", Old: "\t\tentry.since = now\n", New: "\t\t_ = now\n",
	}, {
		Name: "the watch of what is known stays when that is not needed", Package: stripes, Tests: "^TestNumberIsKnown$",
		File: "framework/watch_known.go", Old: "\tf.own.drop()\n", New: "",
	}, {
		Name: "a position that is abandoned leaves its node", Package: stripes, Tests: "^TestMovesToAFreeShare$",
		File: "internal/queue/leave.go", Old: "\tkit.Of(p.client).DeleteInBackground(p.path)\n\tp.Unrecord()\n\tp.End()", New: "\tp.Unrecord()\n\tp.End()",
	}, {
		Name: "a position at the front goes behind it when it waits again", Package: "./internal/queue", Tests: "^TestPositionStaysAtTheFront$",
		File: "internal/queue/behind.go", Old: "p.queue.HandsOver == nil || p.front || ", New: "p.queue.HandsOver == nil || ",
	}, {
		Name: "a recipe does not see those who use stripes", Package: suites, Tests: "^TestTwoRecipesOnOnePath$",
		File: "internal/recipepath/other_recipes.go", Old: "\tif len(stripes) == 0 {\n", New: "\tif len(stripes) >= 0 {\n",
	}, {
		Name: "a call waits for ever behind a holder that hangs", Package: stripes, Tests: "^TestCallBehindAHolderThatHangs$",
		File: preferred, Old: "if there.moved[movesOn-1].After(here.since) && (", New: "if there.moved[movesOn-1].Before(time.Time{}) && (",
	}, {
		Name: "a resize ends with the maximum hold time", Package: stripes, Tests: "^TestResizeWithAMaximumHoldTime$",
		File: resize, Old: "append(slices.Clone(l.opts), WithMaxHold(0), ", New: "append(slices.Clone(l.opts), ",
	}, {
		Name: "a value that has held stripes waits before it learns that the number has changed", Package: stripes, Tests: "^TestMismatchIsKnownBeforeTheWait$",
		File: number, Old: "\t\tdata, _, err = kit.Of(t.Client).GetKnown(ctx, l.recipe.Path)\n", New: "\t\treturn nil\n",
	}, {
		Name: "stripes do not see the permits of a semaphore without a size", Package: stripes, Tests: "^TestCuratorsSemaphoreAtThePath$",
		File: "internal/recipepath/other_recipes.go", Old: "\t\terr = errOther(znode.PermitsDir, held[0], own)\n", New: "",
	}}
}
