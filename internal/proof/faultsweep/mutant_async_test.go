package faultsweep

// AsyncMutants are bugs in releases that do not wait, and in what is sent behind them.
func AsyncMutants() []Mutant {
	const (
		client = "./framework"
		holds  = "./internal/hold"
		suites = "./internal/proof/conformance"
	)
	return []Mutant{{
		Name: "a delete that is not waited for is given up", Package: client, Tests: "^TestSendDeleteThatFails$",
		File: "framework/at_once.go", Old: "\t\tv.goOnDeleting(path, err)\n", New: "",
	}, {
		Name: "a release that is not waited for is no release", Package: client, Tests: "^TestSendDelete$",
		File: "framework/at_once.go", Old: "\tif over {\n", New: "\tif false {\n",
	}, {
		Name: "a request at once is not followed by what has to come behind it", Package: client, Tests: "^TestSendDelete$",
		File: "framework/at_once.go", Old: "{ r.attempt.follow(down) }", New: "{}",
	}, {
		Name: "a release that comes too late for its connection is sent anew", Package: client, Tests: "^TestReleaseAtOnceThatComesTooLateForItsConnection$",
		File: "framework/at_once.go", Old: "\tcase r.counts:\n", New: "\tcase false:\n",
	}, {
		Name: "a request at once that is not sent is not ended", Package: client, Tests: "^TestReadAtOnceThatComesTooLateForItsConnection$",
		File: "framework/at_once.go", Old: "\t_, _ = r.attempt.finish(guard.Answer{}, guard.ErrConnectionClosed)\n\t<-s.slots\n", New: "\t<-s.slots\n",
	}, {
		Name: "observers are not told of a loss that the answer shows", Package: holds, Tests: "^TestReleaseAsyncIsObserved$",
		File: "internal/hold/release.go", Old: "\t\tended(err)\n\t\tif err != nil {", New: "\t\tended(nil)\n\t\tif err != nil {",
	}, {
		Name: "a lease is lost without a word", Package: suites, Tests: "^TestMutex$/^an_async_release_fails",
		File: "internal/hold/release.go", Old: "\t\tended(err)\n\t\tif err != nil {", New: "\t\tended(err)\n\t\tif false {",
	}, {
		Name: "one of several nodes is released without waiting", Package: holds, Tests: "^TestReleaseAsyncOfSeveralNodes$",
		File: "internal/hold/release.go", Old: "return len(h.entry.also) == 0 && ", New: "return ",
	}, {
		Name: "a release that cannot be sent at once is forgotten", Package: suites, Tests: "^TestMutex$/^an_async_release_during_an_outage",
		File: "internal/hold/release.go", Old: "if by != awaited && h.sendRemoval(handsOver, ended) {", New: "if by != awaited && (h.sendRemoval(handsOver, ended) || true) {",
	}, {
		Name: "the watch of a lease that is released without waiting stays", Package: holds, Tests: "^TestReleaseAsyncThatFails$",
		File: "internal/hold/release.go", Old: "\t\th.unwatch()\n\t\terr = h.freed(err, false)\n", New: "\t\terr = h.freed(err, false)\n",
	}, {
		Name: "a deletion that the listing does not show has the own node read", Package: suites, Tests: "^TestMutex$/^an_acquire_behind_an_async",
		File: "internal/queue/view.go", Old: "\tif !found {\n\t\treturn\n\t}\n\tv.reduced = true\n", New: "\tv.reduced = true\n\tif !found {\n\t\treturn\n\t}\n",
	}, {
		Name: "a listing follows a deletion that the last one did not show", Package: suites, Tests: "^TestWriters$/^an_acquire_behind_an_async",
		File: "internal/queue/view.go", Old: "\tat, found := v.find(d.gone)\n\tif !found {\n", New: "\tat, found := v.find(d.gone)\n\tif d.again && !found {\n\t\tv.rechecks = append(v.rechecks, d.gone)\n\t}\n\tif !found {\n",
	}, {
		Name: "a request at once that is too large keeps its slot", Package: client, Tests: "^TestReadsAtOnceDoNotWait$",
		File: "framework/at_once.go", Old: "\tif !r.start(s) {\n\t\t<-s.slots\n", New: "\tif !r.start(s) {\n",
	}, {
		Name: "a deletion admits as if the listing had shown it", Package: "./internal/queue", Tests: "TestADeletionBeforeTheFirstDecision",
		File: "internal/queue/admission.go", Old: "\tif !v.reduced && !p.stoodBehind && p.basis != v.listed {", New: "\tif p.basis != v.listed {",
	}}
}
