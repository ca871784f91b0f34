package faultsweep

const inspecting = "./inspect"

// InspectMutants are bugs in the survey of a path.
func InspectMutants() []Mutant {
	const reads = "inspect/contenders.go"
	return []Mutant{{
		Name: "a survey takes an old state of the server", Package: inspecting, Tests: "ByAServerThatIsBehind",
		File: "inspect/survey.go", Old: "s.client.Sync(ctx, s.path)", New: "ctx.Err()",
	}, {
		Name: "heads count those that have left", Package: inspecting, Tests: "ThatHaveNotLeft",
		File: reads, Old: "			if e.found != nil {\n", New: "			if e.read {\n",
	}, {
		Name: "heads read sixteen more than they were told", Package: inspecting, Tests: "HeadsAreTheFirstOfAll",
		File: reads, Old: "sideBySide, n-found)", New: "sideBySide)",
	}, {
		Name: "heads are the first ones of each state together", Package: inspecting, Tests: "HeadsAreTheFirstOfAll",
		File: reads, Old: "readFirst(ctx, client, holders, n)", New: "readFirst(ctx, client, holders, max(0, n-len(others)))",
	}, {
		Name: "those that have left are reported to be left out", Package: inspecting, Tests: "ThatHaveNotLeft",
		File: reads, Old: "e.read = true", New: "e.read = err == nil",
	}, {
		Name: "a queue of which nothing was read counts as empty", Package: inspecting, Tests: "HeadsOfNoneAreInUse",
		File: "inspect/survey.go", Old: "+len(p.queue.LeftOut) == 0", New: " == 0",
	}, {
		Name: "who waits for a permit has the token of its place in the queue", Package: inspecting, Tests: "HeadsAreTheFirstOfAll",
		File: reads, Old: "c.Token = 0 //", New: "//",
	}, {
		Name: "permits are free while a client waits", Package: inspecting, Tests: "HeadsAreTheFirstOfAll",
		File: "inspect/semaphore.go", Old: "		free = 0\n", New: "		_ = free\n",
	}, {
		Name: "a contender that leaves during a survey is reported to contend for nothing", Package: inspecting, Tests: "APathThatChanges",
		File: "inspect/survey.go", Old: "return contends\n", New: "return contends && len(s.Queues) > 0\n",
	}, {
		Name: "all contenders are reported as holders of a semaphore of unknown size", Package: inspecting, Tests: "OfUnknownSize",
		File: reads, Old: "return 0, Unknown", New: "return len(p.names), Unknown",
	}, {
		Name: "a survey misses who gets a permit meanwhile", Package: inspecting, Tests: "APathThatChanges",
		File: reads, Old: "	if err := readFirst(ctx, client, others, n); err != nil {\n		return err\n	}\n	for _, p := range places {\n		if p.inTwoQueues() {\n",
		New: "	for _, p := range places {\n		_ = p.listPermits(ctx, client)\n	}\n" +
			"	if err := readFirst(ctx, client, others, n); err != nil {\n		return err\n	}\n	for _, p := range places {\n		if false {\n",
	}, {
		Name: "a survey misses a semaphore without waiters", Package: inspecting, Tests: "OfASemaphore$",
		File: "inspect/survey.go", Old: " || slices.Contains(s.children, znode.PermitsDir)", New: " && slices.Contains(s.children, \"x\")",
	}, {
		Name: "a stripe that is held counts as free", Package: inspecting, Tests: "OfStripes$",
		File: "inspect/survey.go", Old: "s.Stripes.Free--", New: "_ = q",
	}, {
		Name: "a survey misses stripes of which none is used", Package: inspecting, Tests: "OfStripes$",
		File: "inspect/stripes.go", Old: "size == 0 && len(dirs) == 0 {", New: "len(dirs) == 0 {",
	}, {
		Name: "a survey misses a job of which no run is recorded", Package: inspecting, Tests: "OfAJob$",
		File: "inspect/survey.go", Old: "s.Job = &Job{}", New: "_ = q",
	}, {
		Name: "any node with the name of a run makes a path that of a job", Package: inspecting, Tests: "NamedLikeThoseOfAJob",
		File: "inspect/survey.go", Old: "if len(p.queue.Contenders)+len(p.queue.LeftOut) == 0 {", New: "if len(p.queue.Contenders)+len(p.queue.LeftOut) == 0 && p.queue.Recipe != Run {",
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
