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
	}, {
		Name: "a survey misses a job of which no run is recorded", Package: inspecting, Tests: "OfAJob$",
		File: "inspect/job.go", Old: "s.Job = &Job{}", New: "_ = q",
	}, {
		Name: "any node with the name of a run makes a path that of a job", Package: inspecting, Tests: "NamedLikeThoseOfAJob",
		File: "inspect/job.go", Old: "(len(q.Contenders) > 0 || d != nil) && s.Job == nil", New: "s.Job == nil",
	}, {
		Name: "any node with the name of the records makes a path that of a job", Package: inspecting, Tests: "NamedLikeThoseOfAJob",
		File: "inspect/job.go", Old: "err == nil && ok {", New: "err == nil {\n_ = ok",
	}, {
		Name: "a survey fails when the records go meanwhile", Package: inspecting, Tests: "OfAJobThatChanges",
		File: "inspect/job.go", Old: "if errors.Is(err, framework.ErrNoNode) {", New: "if errors.Is(err, framework.ErrNoAuth) {",
	}, {
		Name: "a survey ends after the first sixteen runs", Package: inspecting, Tests: "OfManyRuns",
		File: "inspect/stripes.go", Old: "begin < n; begin += sideBySide", New: "begin < min(n, 1); begin += sideBySide",
	}}
}
