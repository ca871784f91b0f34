package faultsweep

const inspecting = "./inspect"

// InspectMutants are bugs in the survey of a path.
func InspectMutants() []Mutant {
	return []Mutant{{
		Name: "a contender that joins during a survey is reported to contend for nothing", Package: inspecting, Tests: "APathThatChanges",
		File: "inspect/inspect.go", Old: "return contends\n", New: "return contends && len(s.Queues) > 0\n",
	}, {
		Name: "all contenders are reported as holders of a semaphore of unknown size", Package: inspecting, Tests: "OfUnknownSize",
		File: "inspect/semaphore.go", Old: "c.Holding, c.State = false, Unknown", New: "_ = c",
	}, {
		Name: "a survey fails when the size is stored meanwhile", Package: inspecting, Tests: "WhileTheSizeChanges",
		File: "inspect/semaphore.go", Old: "errors.Is(err, semaphore.ErrSizeMismatch) || ", New: "",
	}, {
		Name: "a survey misses a semaphore without waiters", Package: inspecting, Tests: "OfASemaphore$",
		File: "inspect/semaphore.go", Old: " || slices.Contains(children, znode.PermitsDir)", New: " && slices.Contains(children, \"x\")",
	}, {
		Name: "a stripe that is held counts as free", Package: inspecting, Tests: "OfStripes$",
		File: "inspect/stripes.go", Old: "s.Stripes.Free--", New: "_ = q",
	}, {
		Name: "a survey misses stripes of which none is used", Package: inspecting, Tests: "OfStripes$",
		File: "inspect/stripes.go", Old: "if size == 0 && len(dirs) == 0 {", New: "if len(dirs) == 0 {",
	}}
}
