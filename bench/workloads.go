package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/bench/contend"
	"github.com/zkrecipes/zkrecipes/bench/servers"
)

// A system is one library, or one way to use it.
type system struct {
	name   string
	server string   // the kind of its server
	can    []string // the kinds of lock that it has
}

func (s system) String() string { return s.name }

// kept is a mutex whose holder asks, before each write, whether it still holds: what
// faults are for.
const kept = "kept"

// systems are those that can be compared. All are related to "bare".
var systems = []system{
	{"bare", "zookeeper", []string{"mutex", "semaphore", "readwrite", "leader"}},
	{"ours", "zookeeper", []string{"mutex", "semaphore", "readwrite", "leader", kept}},
	{"ours-async", "zookeeper", []string{"mutex", "semaphore", "readwrite"}},
	{"ours-single", "zookeeper", []string{"semaphore"}},
	{"gozk", "zookeeper", []string{"mutex", "leader", kept}},
	{"gozk-state", "zookeeper", []string{kept}},
	{"curator", "zookeeper", []string{"mutex", "semaphore", "readwrite", "leader", kept}},
	{"curator-listener", "zookeeper", []string{kept}},
	{"etcd", "etcd", []string{"mutex", "readwrite", "leader", kept}},
	{"redsync", "redis", []string{"mutex", kept}},
	{"redislock", "redis", []string{"mutex", kept}},
	{"postgres", "postgres", []string{"mutex", "readwrite", "leader", kept}},
}

// before returns what can be compared, with an earlier commit of this project, as a
// system "before", if there is a build of it.
func before(program string) []system {
	if program == "" {
		return systems
	}
	earlier := systems[1]
	earlier.name = "before"
	return slices.Insert(slices.Clone(systems), 1, earlier)
}

// A workload is what the systems do in a slice.
type workload struct {
	name       string
	act        string // "cycles", "take", "drain", "resign" or "kill"
	kind       string // of lock
	goroutines int
	own        bool // each goroutine has its own path
	n          int  // locks to take, waiters to drain, changes of leader
	fresh      bool // the paths of the locks to take are new
	processes  int  // 0 is one
	delay      time.Duration
}

func (w workload) String() string { return w.name }

// workloads are in the order of the table.
var workloads = []workload{
	{name: "free", act: "cycles", kind: "mutex", goroutines: 1, own: true},
	{name: "own-16", act: "cycles", kind: "mutex", goroutines: 16, own: true},
	{name: "own-128", act: "cycles", kind: "mutex", goroutines: 128, own: true},
	{name: "path-2", act: "cycles", kind: "mutex", goroutines: 2},
	{name: "path-16", act: "cycles", kind: "mutex", goroutines: 16},
	{name: "path-128", act: "cycles", kind: "mutex", goroutines: 128},
	{name: "processes-4", act: "cycles", kind: "mutex", goroutines: 1, processes: 4},
	{name: "delayed-4", act: "cycles", kind: "mutex", goroutines: 1, processes: 4, delay: 2 * time.Millisecond},
	{name: "drain-100", act: "drain", kind: "mutex", n: 100},
	{name: "drain-1000", act: "drain", kind: "mutex", n: 1000},
	{name: "drain-5000", act: "drain", kind: "mutex", n: 5000},
	{name: "fresh-10000", act: "take", kind: "mutex", n: 10_000, fresh: true},
	{name: "known-10000", act: "take", kind: "mutex", n: 10_000},
	{name: "semaphore", act: "cycles", kind: "semaphore", goroutines: 64},
	{name: "readwrite", act: "cycles", kind: "readwrite", goroutines: 32},
	{name: "resign", act: "resign", kind: "leader", n: 50},
	{name: "kill", act: "kill", kind: "leader", n: 1},
}

// by tells whether a system can do the workload. In PostgreSQL each waiter has a
// connection.
func (w workload) by(s system) bool {
	if s.server == "postgres" && w.act == "drain" && w.n >= servers.Connections {
		return false
	}
	return slices.Contains(s.can, w.kind) && (w.act != "kill" || s.name != "bare")
}

// crew is how many processes of a system do the workload. A chain of bare calls needs
// but one.
func (w workload) crew(s system) int {
	switch {
	case w.act == "kill":
		return 2
	case s.name == "bare":
		return 1
	}
	return max(w.processes, 1)
}

// session is the timeout of the sessions. Where a process is killed it is what is
// waited for.
func (w workload) session() time.Duration {
	if w.act == "kill" {
		return 4 * time.Second
	}
	return 10 * time.Second
}

// order is what each process is told. Permits, readers and writers are related to the
// bare pairs of 16 goroutines.
func (r *run) order(w workload, s system, path string) contend.Values {
	own, kind, goroutines := w.own, w.kind, w.goroutines
	if s.name == "bare" && (kind == "semaphore" || kind == "readwrite") {
		own, kind, goroutines = true, "mutex", 16
	}
	return contend.Values{
		"kind": kind, "path": path, "own": fmt.Sprint(own), "goroutines": fmt.Sprint(goroutines), "workers": "64",
		"for": fmt.Sprint(r.slice.Milliseconds()), "n": fmt.Sprint(w.n / w.crew(s)), "fresh": fmt.Sprint(w.fresh),
		"total": fmt.Sprint(w.n + 1), "dwell": fmt.Sprint(r.dwell.Microseconds()),
	}
}
