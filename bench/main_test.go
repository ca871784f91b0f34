package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/zktest"

	"github.com/zkrecipes/zkrecipes/bench/servers"
)

// The test binary is also the process that it measures.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "contend" {
		main()
		return
	}
	os.Exit(m.Run())
}

// quick returns a run on a server in this process, which needs nothing installed.
func quick(t *testing.T, o ...zktest.Option) *run {
	t.Helper()
	r, err := newRun(options{rounds: 2, slice: 50 * time.Millisecond, warmUp: 50 * time.Millisecond, limit: 2 * time.Minute})
	require.NoError(t, err)
	r.servers["zookeeper"] = servers.At(zktest.NewServer(t, o...).Addr())
	t.Cleanup(r.close)
	return r
}

// small are the workloads with fewer waiters and locks.
func small() []workload {
	some := slices.Clone(workloads)
	for i := range some {
		some[i].n = min(some[i].n, 60)
	}
	return some
}

// Every workload of every system that needs no more than a ZooKeeper ends, gets
// something done, and finds no two holders.
func TestWorkloads(t *testing.T) {
	some, err := choose(systems, "bare,ours,ours-single,gozk", system.String)
	require.NoError(t, err)
	r := quick(t)
	for _, w := range small() {
		t.Run(w.name, func(t *testing.T) {
			some := some
			if w.act == "kill" { // which takes as long as a session times out
				r.rounds, some = 1, some[1:2]
			}
			rows, err := r.compare(t.Context(), w, some)
			require.NoError(t, err)
			require.NotEmpty(t, rows)
			for _, one := range rows {
				assert.Len(t, one.figures, r.rounds)
				for _, f := range one.figures {
					require.NoError(t, f.err, one.s.name)
					assert.Positive(t, f.all, one.s.name)
					assert.GreaterOrEqual(t, f.all, f.ops, one.s.name) // on a busy machine the rest ends late
					assert.Zero(t, f.violations, one.s.name)
				}
				assert.Len(t, one.cells(), 10)
				assert.NoError(t, one.checked.err, one.s.name)
				assert.Zero(t, one.checked.violations, one.s.name)
			}
			if w.name == "free" {
				assert.Equal(t, []string{"create", "delete"}, kinds(rows[0].checked))
				assert.Equal(t, []string{"create", "delete", "list"}, kinds(rows[1].checked))
				assert.Equal(t, []string{"create", "delete", "list"}, kinds(rows[2].checked))
			}
		})
	}
}

// kinds are the requests that each cycle has made.
func kinds(f figure) (all []string) {
	for kind, n := range f.requests {
		if n >= f.all {
			all = append(all, kind)
		}
	}
	slices.Sort(all)
	return all
}

func TestScale(t *testing.T) {
	some, err := choose(systems, "bare,ours,gozk", system.String)
	require.NoError(t, err)
	r := quick(t)
	r.memory = true
	var out bytes.Buffer
	much := size{waiters: 60, held: 100}
	for _, processes := range []int{2, 3} {
		require.NoError(t, r.crowds(t.Context(), some, much, processes, &out))
	}
	require.NoError(t, r.holds(t.Context(), some, much, &out))
	assert.NotContains(t, out.String(), "failed")
	assert.Equal(t, 3*2, strings.Count(out.String(), "ours"), out.String())
	stop, err := keepBusy(2)
	require.NoError(t, err)
	stop()
}

// A process that fails makes its round fail, and the next one has a new process.
func TestFailure(t *testing.T) {
	r := quick(t)
	w, s := workloads[0], systems[1]
	bad := w
	bad.act = "juggle"
	f := r.measure(t.Context(), bad, s, "/bench/x", r.route(w, s))
	require.ErrorContains(t, f.err, "juggle")
	assert.Contains(t, row{w: bad, s: s, figures: []figure{f}}.cells()[9], "failed")
	f = r.measure(t.Context(), w, s, "/bench/x", r.route(w, s))
	require.NoError(t, f.err)
	assert.Positive(t, f.all)
}

func TestTable(t *testing.T) {
	of := func(ops ...int) (all []figure) {
		for _, n := range ops {
			all = append(all, figure{ops: n, all: n, took: time.Second, client: time.Duration(n) * time.Millisecond})
		}
		return all
	}
	r := row{
		w: workloads[0], s: systems[1], bare: of(100, 200, 100), figures: of(50, 100, 40),
		checked: figure{all: 100, requests: map[string]int{"create": 100, "list": 200, "sync": 1}},
	}
	assert.Equal(t, []string{
		"free", "ours", "50", "(40..100)", "0.5", "(0.4..0.5)", "1000", "0", "0", "3.01: list 2.00, create 1.00",
	}, r.cells())
	var out bytes.Buffer
	require.NoError(t, tabulate(&out, options{rounds: 3}, []row{r}))
	assert.Contains(t, out.String(), "workload")
}

// Ours of an earlier commit is another build of this program: here it is this one.
func TestBefore(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	some, err := choose(before(self), "before,ours,bare", system.String)
	require.NoError(t, err)
	r := quick(t)
	r.before = self
	rows, err := r.compare(t.Context(), workloads[0], some)
	require.NoError(t, err)
	require.Len(t, rows, 3)
	for _, one := range rows {
		require.NoError(t, one.figures[0].err, one.s.name)
		assert.Equal(t, rows[2].figures, one.bare, "bare is related to, wherever it stands")
	}
}

func TestCommandRefuses(t *testing.T) {
	for _, args := range [][]string{
		nil, {"peer"}, {"peers", "-systems", "ours,theirs"}, {"peers", "-workloads", ""}, {"peers", "-systems", "before"}, {"scale", "-systems", "x"},
		{"faults", "-systems", "bare"}, {"faults", "-faults", "flood"}, {"scale", "-processes", "0"}, {"scale", "-processes", "8,"},
	} {
		assert.Error(t, command(t.Context(), args), "%v", args)
	}
}
