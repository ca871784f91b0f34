package faultsweep

// HandOverMutants are bugs in the hand-over of slots within a session.
func HandOverMutants() []Mutant {
	return []Mutant{{
		Name: "a waiter that gives up hands over", Package: suites, Tests: "^TestMutex$/^the_next_of_a_session_gives_up",
		File: "internal/queue/leave.go", Old: "_ = client.DeleteGuaranteed(ctx, node)", New: "_ = kit.Of(client).Release(ctx, node)",
	}, {
		Name: "a lease that was lost is handed over", Package: scenarios, Tests: "TestSlotWhoseLongestHoldIsOver",
		File: "internal/hold/release.go", Old: "\t\tif h.remains() {\n\t\t\th.remove()\n\t\t}\n\t\treturn err\n", New: "\t\t_ = h.free(true)\n\t\treturn err\n",
	}, {
		Name: "a release of an earlier connection hands over", Package: suites, Tests: "^TestMutex$/^an_earlier_connection_hands",
		File: "internal/queue/policy.go", Old: "(!over || slot.on != a.on)", New: "(!over || slot.on == nil)",
	}, {
		Name: "a slot is handed over without a watch on the own node", Package: "./internal/queue", Tests: "TestNothingIsHandedOverToADeletedNode",
		File: "internal/queue/handover.go", Old: "\treturn p.node.watch == watched\n", New: "\treturn true\n",
	}, {
		Name: "a slot is handed over without a watch at any time", Package: "./internal/queue", Tests: "TestNothingIsHandedOverToADeletedNode",
		File: "internal/queue/handover.go", Old: "time.Since(p.made) < hold.LookDelay", New: "time.Since(p.made) >= 0",
	}, {
		Name: "a session that ends between hand-over and grant is relied on", Package: "./internal/acquire", Tests: "TestSessionEndsBetweenHandOverAndGrant",
		File: "framework/reliance.go", Old: "cmp.Or(s.Err(), context.Cause(ctx))", New: "cmp.Or(nil, context.Cause(ctx))",
	}, {
		Name: "a waiter rests for ever", Package: "./internal/queue", Tests: "TestWaiterThatHasJustJoinedRests",
		File: "internal/queue/handover.go", Old: "p.made.Add(hold.LookDelay)), p.notify)", New: "p.made.Add(hold.LookDelay)), func() {})",
	}, {
		Name: "a waiter rests behind a reader", Package: rwScenarios, Tests: "TestNobodyRestsBehindAReader",
		File: "internal/queue/handover.go", Old: "!p.isLocal(name) || !p.queue.HandsOver(name) }", New: "!p.isLocal(name) }",
	}, {
		Name: "nobody looks past a reader of the session", Package: rwScenarios, Tests: "TestWriterLooksPastAReaderOfItsSession",
		File: "internal/queue/position.go", Old: "if p.HandsOver() {", New: "if p.self.Ordered() {",
	}, {
		Name: "a hold without a watch looks late", Package: "./internal/queue", Tests: "TestHandedOverJustAfterItJoined",
		File: "internal/hold/table.go", Old: "look = g.Made.Sub(t.epoch) + LookDelay", New: "look = now + LookDelay",
	}, {
		Name: "a downgrade does not bar the hand-over", Package: rwScenarios, Tests: "TestWriterThatHasDowngradedIsNotHandedOver",
		File: "internal/hold/owner.go", Old: "h.keeps = true", New: "",
	}, {
		Name: "readers are handed over", Package: rwScenarios, Tests: "TestReadersAreNotHandedOver",
		File: "internal/locks/locks.go", Old: "return of.Kind != znode.Reader }", New: "return of.Node != \"\" }",
	}, {
		Name: "the door of a semaphore is handed over", Package: permits, Tests: "TestDoorOfCuratorsLayoutIsNotHandedOver",
		File: "recipes/semaphore/semaphore.go", Old: "s.queue.Of, s.queue.HandsOver = path, nil", New: "s.queue.Of = path",
	}, {
		Name: "a confirmation does not wait for the deletes before", Package: suites, Tests: "^TestMutex$/^a_confirmation_waits",
		File: "internal/hold/check.go", Old: "if err := kit.Of(h.client).AwaitReleased(ctx, path.Dir(h.Path())); err != nil {", New: "if err := ctx.Err(); err != nil {",
	}, {
		Name: "the check of a released lease is sent", Package: suites, Tests: "^TestMutex$/^a_check_of_a_released",
		File: "internal/hold/check.go", Old: "if h.loss == nil && h.closed {", New: "if false {",
	}, {
		Name: "slots are handed over after a refused delete", Package: suites, Tests: "^TestMutex$/^the_server_refuses_the_delete",
		File: "internal/queue/handover.go", Old: "if v.closed || v.confirms {", New: "if v.closed {",
	}, {
		Name: "every release is handed over", Package: suites, Tests: "^TestReaders$/^a_slot_is_kept_until",
		File: "internal/hold/release.go", Old: "handsOver := !lost && !h.keeps", New: "handsOver := !lost",
	}}
}
