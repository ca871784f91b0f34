package faultsweep

// HandOverMutants are bugs in the hand-over of slots within a session.
func HandOverMutants() []Mutant {
	return []Mutant{{
		Name: "a waiter that gives up hands over", Package: suites, Tests: "^TestMutex$/^the_next_of_a_session_gives_up",
		File: "internal/queue/position.go", Old: "_ = client.DeleteGuaranteed(ctx, node)", New: "_ = kit.Of(client).Release(ctx, node)",
	}, {
		Name: "a lease that was lost is handed over", Package: scenarios, Tests: "TestSlotWhoseLongestHoldIsOver",
		File: "internal/hold/release.go", Old: "\t\tif h.remains() {\n\t\t\th.remove()\n\t\t}\n\t\treturn err\n", New: "\t\t_ = h.free(true)\n\t\treturn err\n",
	}, {
		Name: "a release of an earlier connection hands over", Package: suites, Tests: "^TestMutex$/^an_earlier_connection_hands",
		File: "internal/queue/policy.go", Old: "(!over || slot.on != a.on)", New: "(!over || slot.on == nil)",
	}, {
		Name: "the own watch is not needed for a hand-over", Package: suites, Tests: "^TestMutex$/^the_own_watch_comes_after",
		File: "internal/queue/handover.go", Old: "return p.node.watch == watched", New: "return true",
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
		Name: "any number of releases is unconfirmed", Package: suites, Tests: "^TestMutex$/^a_chain_of_hand-overs",
		File: "framework/releases.go", Old: "case len(all.unconfirmed) == maxUnconfirmed:", New: "case false:",
	}, {
		Name: "slots are handed over after a refused delete", Package: suites, Tests: "^TestMutex$/^the_server_refuses_the_delete",
		File: "internal/queue/handover.go", Old: "if v.closed || v.confirms {", New: "if v.closed {",
	}, {
		Name: "unconfirmed deletes are not sent again first", Package: suites, Tests: "^TestMutex$/^a_late_write_is_sent_over",
		File: "framework/gate.go", Old: "\t\t\tg.session.releases.resend(c)\n", New: "",
	}, {
		Name: "every release is handed over", Package: suites, Tests: "^TestReaders$/^a_slot_is_kept_until",
		File: "internal/hold/release.go", Old: "handsOver := !lost && !h.keeps", New: "handsOver := !lost",
	}}
}
