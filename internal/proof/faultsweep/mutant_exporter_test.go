package faultsweep

// ExporterMutants are bugs in what the exporter shows, and in how it serves it.
func ExporterMutants() []Mutant {
	return []Mutant{{
		Name: "paths that look the same when escaped share a series", Package: command, Tests: "EscapedPathsAreNotMerged$",
		File: "cmd/zkrecipes/exporter_metrics.go", Old: "quote.Path(strings.ReplaceAll(path, `\\`, `\\\\`))", New: "quote.Path(strings.TrimSpace(path))",
	}, {
		Name: "a label is not escaped", Package: command, Tests: "HostileLabels$",
		File: "cmd/zkrecipes/exporter_text.go", Old: "strings.NewReplacer(`\\`, `\\\\`, `\"`, `\\\"`, \"\\n\", `\\n`)", New: "strings.NewReplacer(\"\\n\", `\\n`)",
	}, {
		Name: "a holder of several locks that share a series is named", Package: command, Tests: "TemplatesOfTheExporter$",
		File: "cmd/zkrecipes/exporter_metrics.go", Old: "l := g.locks[0]; len(g.locks) == 1 &&", New: "l := g.locks[0]; len(g.locks) > 0 &&",
	}, {
		Name: "the time in the queue counts as that of the hold", Package: command, Tests: "BusyLockNamesNobody$",
		File: "cmd/zkrecipes/exporter_holders.go", Old: "case again:\n\t\t\tatLeast[node.path] = begun.Sub(seen)", New: "default:\n\t\t\tatLeast[node.path] = age(l.HeldSince())",
	}, {
		Name: "litter that the servers may still remove counts", Package: command, Tests: "DocumentedMetrics$",
		File: "cmd/zkrecipes/exporter_metrics.go", Old: "if l.Certain {\n\t\t\te.add(\"zkrecipes_litter\", 1", New: "if l.Kind != \"\" {\n\t\t\te.add(\"zkrecipes_litter\", 1",
	}, {
		Name: "what is left out is missing in the sums", Package: command, Tests: "LimitOfTheExporter$",
		File: "cmd/zkrecipes/exporter_metrics.go", Old: "e.add(\"zkrecipes_locks_left_out\", float64(len(g.locks)))", New: "e.add(\"zkrecipes_locks_in_use\", -float64(len(g.locks)), \"recipe\", g.recipe)",
	}, {
		Name: "a survey that has ended is used again", Package: command, Tests: "SurveyThatHasEnded$",
		File: "cmd/zkrecipes/exporter_survey.go", Old: "if s.now == v { // the next scrape must not get what was found before it came\n\t\t\ts.now = nil\n\t\t}", New: "",
	}, {
		Name: "a survey ends with the first scrape that leaves", Package: command, Tests: "SurveyEndsWithItsScrapes$",
		File: "cmd/zkrecipes/exporter_survey.go", Old: "if v.waiting--; v.waiting > 0 {", New: "if v.waiting--; v.waiting > 1 {",
	}, {
		Name: "a scrape takes as long as Prometheus waits", Package: command, Tests: "ServerThatIsSilent$",
		File: "cmd/zkrecipes/exporter_serve.go", Old: "return max(waits-scrapeMargin, waits/2)", New: "return waits",
	}, {
		Name: "a request whose body does not come is waited for", Package: command, Tests: "SlowClients$",
		File: "cmd/zkrecipes/exporter_serve.go", Old: "\t\tReadTimeout: 10 * time.Second,", New: "\t\tReadHeaderTimeout: 10 * time.Second,",
	}}
}
