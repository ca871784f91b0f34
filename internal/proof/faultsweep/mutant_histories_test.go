package faultsweep

const histories = "./internal/proof/histories"

// HistoryMutants are bugs that must show in the histories of the recipes.
func HistoryMutants() []Mutant {
	return []Mutant{{
		Name: "a session is trusted for too long, seen in histories", Package: histories, Tests: "TestMutex",
		File: "framework/internal/guard/trust.go", Old: "{ return timeout - stopMargin(timeout) }", New: "{ return 2*timeout - stopMargin(timeout) }",
	}, {
		Name: "readers see only the first writer ahead", Package: histories, Tests: "TestReadWriteLock",
		File: "internal/locks/locks.go", Old: "if other.Kind != znode.Reader {\n", New: "if other.Kind != znode.Reader && other.Sequence == 0 {\n",
	}, {
		Name: "one permit too many, seen in histories", Package: histories, Tests: "TestSemaphoreWithSingleQueue",
		File: "recipes/semaphore/single_queue.go", Old: "if other.Weight > left {", New: "if other.Weight > left+1 {",
	}, {
		Name: "a release returns one permit of several", Package: histories, Tests: "TestSemaphore$",
		File: "internal/hold/release.go", Old: "ops = append(ops, framework.DeleteOp(path, framework.AnyVersion))", New: "if len(ops) == 0 {\n\t\t\tops = append(ops, framework.DeleteOp(path, framework.AnyVersion))\n\t\t}",
	}, {
		Name: "an observer is notified of one leader only", Package: histories, Tests: "TestLeaderElection",
		File: "recipes/leader/observe.go", Old: "if !o.begun || head.Node != o.node {", New: "if !o.begun {",
	}}
}
