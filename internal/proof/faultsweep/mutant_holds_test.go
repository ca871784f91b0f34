package faultsweep

// HoldMutants are bugs in the table that looks after all holds of a session: one loses
// a hold out of sight, or ends another.
func HoldMutants() []Mutant {
	const holding = "./internal/hold"
	return []Mutant{{
		Name: "all releases share one bound", Package: holding, Tests: "TestEachReleaseIsBoundedByItself",
		File: "internal/hold/release.go", Old: "t.removing == nil || now >= t.renewal {", New: "t.removing == nil || now < 0 {",
	}, {
		Name: "a new bound ends the releases before it", Package: holding, Tests: "TestEachReleaseIsBoundedByItself",
		File: "internal/hold/release.go", Old: "t.removing, t.renewal = ctx, now+limit/8", New: "time.AfterFunc(limit/8, func() { cancel(nil) })\n\t\tt.removing, t.renewal = ctx, now+limit/8",
	}, {
		Name: "a context that is asked for after the end of its lease goes on", Package: holding, Tests: "TestContextThatIsFirstAskedForAtTheEnd",
		File: "internal/hold/handle.go", Old: "if h.ended != notEnded {", New: "if false {",
	}, {
		Name: "a hold is looked at once", Package: holding, Tests: "LookedAtAgainAndAgain",
		File: "internal/hold/look.go", Old: "if n.look = t.now() + next; n.changed {", New: "if n.look = never; n.changed {",
	}, {
		Name: "the table ends when it is empty", Package: holding, Tests: "AfterAllOthersHaveEnded",
		File: "internal/hold/watcher.go", Old: "} else if over || t.closing {", New: "} else if t.begin.Do(func() {}); true {",
	}, {
		Name: "a deadline of a new hold does not wake the table", Package: holding, Tests: "AfterAllOthersHaveEnded|MaxHold",
		File: "internal/hold/table.go", Old: "if t.due[0].next() < t.armed {", New: "if false {",
	}, {
		Name: "an event ends a later hold of the same name", Package: holding, Tests: "LateEvent",
		File: "internal/hold/look.go", Old: "n.hold.doom(lease.ErrDeleted)",
		New: "for _, later := range n.hold.table.due {\n\t\t\tif later.path == n.path {\n\t\t\t\tdefer later.hold.doom(lease.ErrDeleted)\n\t\t\t}\n\t\t}",
	}, {
		Name: "the maximum hold time ends a hold at the next event", Package: holding, Tests: "MaxHold",
		File: "internal/hold/deadlines.go", Old: "return min(n.look, n.hold.entry.ends)", New: "return n.look",
	}, {
		Name: "Close ends the session before the holds", Package: holding, Tests: "CloseEndsAllHoldsFirst",
		File: "internal/hold/watcher.go", Old: "for _, h := range all {\n\t\th.lose(", New: "for _, h := range all[:0] {\n\t\th.lose(",
	}, {
		Name: "Close waits for no hold", Package: holding, Tests: "CloseEndsAllHoldsFirst",
		File: "internal/hold/watcher.go", Old: "if t.armed = never; len(t.due) > 0 {", New: "if t.armed = never; len(t.due) > 0 && !t.closing {",
	}, {
		Name: "a hold begins although Close has begun", Package: holding, Tests: "BeginsDuringClose",
		File: "internal/hold/table.go", Old: "if t.over || t.closing {", New: "if t.over {",
	}, {
		Name: "all holds are looked at at once", Package: holding, Tests: "AFewAtATime",
		File: "internal/hold/look.go", Old: "min(maxLooking-t.looking, len(t.looks))", New: "len(t.looks)",
	}, {
		Name: "an event during a look is forgotten", Package: holding, Tests: "ChangeDuringALook",
		File: "internal/hold/look.go", Old: "\t\tn.changed = true\n", New: "",
	}, {
		Name: "the event before a grant is forgotten", Package: holding, Tests: "EventBeforeTheGrant",
		File: "internal/hold/hold.go", Old: "fired := g.Watch.Take(own.notify); fired {", New: "fired := g.Watch.Take(own.notify); fired && false {",
	}, {
		Name: "a lost hold ends its watch while its node exists", Package: holding, Tests: "GrantedWatchEndsWithTheNode",
		File: "internal/hold/hold.go", Old: "func (h *Hold) end() {\n", New: "func (h *Hold) end() {\n\th.unwatch()\n",
	}, {
		Name: "a break is forgotten when a hold begins after it", Package: holding, Tests: "ABreakIsKnown",
		File: "internal/hold/table.go", Old: "\t\tfor _, n := range t.due {\n\t\t\tt.markEntry(n.hold)\n\t\t}\n", New: "",
	}, {
		Name: "Err waits for the table to see an event", Package: holding, Tests: "ErrKnowsOfAnEvent",
		File: "internal/hold/hold.go", Old: "if why := h.doomed.Load(); why != nil {", New: "time.Sleep(0)\n\tif why := h.doomed.Load(); why != nil && !h.entry.marked {",
	}, {
		Name: "a lost hold is never removed", Package: holding, Tests: "MaxHoldWindsDown",
		File: "internal/hold/watcher.go", Old: "case known && due:", New: "case known && due && false:",
	}}
}
