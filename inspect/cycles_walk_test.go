package inspect_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// says makes a node of a lock as another client would, with data.
func says(t *testing.T, c *framework.Client, path, data string) {
	t.Helper()
	require.NoError(t, c.CreateParents(t.Context(), path+"/x"))
	_, err := c.Create(t.Context(), path+"/_c_x-lock-", []byte(data), framework.EphemeralSequential)
	require.NoError(t, err)
}

// Clients that say nothing are known by their sessions, or by their processes.
func TestPossibleCycles(t *testing.T) {
	const one, two, nobody = `{"host":"h","pid":1}`, `{"host":"h","pid":2}`, `{"who":"x"}`
	for name, tc := range map[string]struct {
		data [4]string // of the holders of x and y, and of those that wait for y and x
		same bool      // the one that waits for y is of the session that holds x
		want int
	}{
		"sessions":                      {data: [4]string{}, same: true, want: 1},
		"others":                        {data: [4]string{}},
		"processes":                     {data: [4]string{one, two, one, two}, want: 1},
		"another process":               {data: [4]string{one, two, two, two}},
		"another host":                  {data: [4]string{one, two, `{"host":"g","pid":1}`, two}},
		"no process":                    {data: [4]string{nobody, two, nobody, two}},
		"a host without a process":      {data: [4]string{`{"host":"h"}`, two, `{"host":"h"}`, two}},
		"a process without a host":      {data: [4]string{`{"pid":1}`, two, `{"pid":1}`, two}},
		"one that knows what it holds":  {data: [4]string{one, two, `{"host":"h","pid":1,"holds":["/other"]}`, two}},
		"one within another's commands": {data: [4]string{one, two, `{"host":"h","pid":1,"within":["0x1"]}`, two}},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
				says(t, a, "/locks/x", tc.data[0])
				says(t, b, "/locks/y", tc.data[1])
				if tc.same {
					c = a
				}
				says(t, c, "/locks/y", tc.data[2])
				says(t, b, "/locks/x", tc.data[3])
				found := cycles(t, b, "/").Cycles
				require.Len(t, found, tc.want)
				for _, of := range found {
					require.False(t, of.Certain)
				}
			})
		})
	}
}

// A waiter holds only what was granted before it began to wait, and its own queue says
// nothing: another thread may wait there.
func TestProcessesThatAreBusy(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		says(t, b, "/locks/y", "")
		says(t, a, "/locks/y", "") // waits, and then another thread takes x
		says(t, a, "/locks/x", "")
		says(t, b, "/locks/x", "")
		says(t, a, "/locks/x", "")
		require.Empty(t, cycles(t, b, "/").Cycles)
	})
}

// Of a process that holds very many locks, a waiter may own those that were granted
// last.
func TestPossibleCycleOfAVeryBusyProcess(t *testing.T) {
	for younger, found := range map[int]int{63: 1, 64: 0} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a, b, others := w.Client("a"), w.Client("b"), w.Client("others")
			says(t, a, "/locks/first", "")
			for i := range younger {
				for _, c := range []*framework.Client{a, others} {
					says(t, c, fmt.Sprint("/locks/", i), "")
				}
			}
			says(t, b, "/locks/theirs", "")
			says(t, b, "/locks/first", "")
			says(t, a, "/locks/theirs", "")
			require.Len(t, cycles(t, b, "/").Cycles, found)
		})
	}
}

// What is part of a certain cycle is not shown once more, but another one is.
func TestPossibleCycleBesideACertainOne(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		r := newRing(t, w)
		says(t, r.reader, "/other/p", "")
		other := w.Client("other")
		says(t, other, "/other/q", "")
		says(t, r.reader, "/other/q", "")
		says(t, other, "/other/p", "")
		says(t, other, "/locks/x", "") // waits for the ring
		w.After(time.Second)
		for _, path := range []string{"/a/p", "/a/q"} { // the youngest, although it is read first
			says(t, w.Client(path), path, "")
		}
		says(t, w.Known("/a/p"), "/a/q", "")
		says(t, w.Known("/a/q"), "/a/p", "")
		found := cycles(t, r.reader, "/").Cycles
		require.Len(t, found, 3)
		require.True(t, found[0].Certain)
		require.Equal(t, "/other/q", found[1].Links[0].Holds)
		require.Equal(t, "/a/q", found[2].Links[0].Holds)
		r.end(t)
	})
}

func TestCycleOfThree(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var held []*lease.Lease
		var waiting []*conformance.Attempt
		for _, name := range []string{"a", "b", "c"} {
			held = append(held, w.Acquire(mutexAt(t, w.Client(name), "/locks/"+name, name)))
		}
		for i, next := range []string{"b", "c", "a"} {
			require.Empty(t, cycles(t, w.Known("a"), "/").Cycles)
			name := string(rune('a' + i))
			waiting = append(waiting, within(w, held[i], mutexAt(t, w.Known(name), "/locks/"+next, name)))
		}
		require.Equal(t, []string{
			"certain: c holds /locks/c and waits for /locks/a. a holds /locks/a and waits for /locks/b. b holds /locks/b and waits for /locks/c.",
		}, linksOf(cycles(t, w.Known("a"), "/")))
		ends(t, held, waiting...)
	})
}

// The paths are those of the client, and what is stored are those of the server.
func TestCyclesThroughAView(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		below := func(name string) *framework.Client {
			return w.Client(name, func(cfg *framework.Config) { cfg.Chroot = "/app" })
		}
		a, b := below("a"), below("b")
		view, err := a.Namespace("locks")
		require.NoError(t, err)
		x, y := w.Acquire(mutexAt(t, view, "/x", "a")), w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		toY, toX := within(w, x, mutexAt(t, view, "/y", "a")), within(w, y, mutexAt(t, b, "/locks/x", "b"))
		for client, prefix := range map[*framework.Client]string{view: "", b: "/locks", w.Client("c"): "/app/locks"} {
			for _, path := range []string{"/", prefix + "/"} {
				s, err := inspect.Cycles(t.Context(), client, path[:max(1, len(path)-1)])
				require.NoError(t, err)
				require.Equal(t, []string{fmt.Sprintf(
					"certain: b holds %[1]s/y and waits for %[1]s/x. a holds %[1]s/x and waits for %[1]s/y.", prefix)}, linksOf(s))
			}
		}
		ends(t, []*lease.Lease{x, y}, toX, toY)
	})
}

// What is in use, and what only looks like it.
func TestWhatAWalkFinds(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		in := func(want int, nodes ...string) {
			t.Helper()
			for _, node := range nodes {
				require.NoError(t, c.CreateParents(t.Context(), "/app"+node))
				_, err := c.Create(t.Context(), "/app"+node, nil, framework.Ephemeral)
				require.NoError(t, err)
			}
			require.Equal(t, want, cycles(t, c, "/app").Locks, nodes)
			require.NoError(t, c.DeleteTree(t.Context(), "/app"))
		}
		in(0, "/a/b/c", "/a/lock-5")
		in(1, "/lock-0000000001", "/lock-0000000002")
		in(3, "/lock-0000000001", "/latch-0000000002", "/permits-1-0000000003")
		in(1, "/sem/leases/x-lease-0000000001", "/sem/locks/lock-0000000002")
		in(1, "/sem/leases/x-lease-0000000001")
		in(2, "/locks/lock-0000000002", "/locks/x/lock-0000000001") // a lock called "locks", and one below
		in(3, "/leases/x-lease-0000000001", "/leases/a/lock-0000000001", "/locks/b/lock-0000000001")
		in(1, "/x/lock-0000000001", "/x/lock-delay/lock-0000000001")
		in(2, "/x/lock-0000000001", "/x/lock-delay/y/lock-0000000001")
		in(2, "/x/stripe-0001/lock-0000000001", "/x/stripe-0001/lock-0000000002", "/x/stripe-0002/lock-0000000001")
		in(2, "/job/a.key/lock-0000000001", "/job/done/b.key", "/job/done/c/lock-0000000001")

		for range 3 { // more than are listed at a time
			for i := range 20 {
				foreign(t, c, fmt.Sprintf("/many/%d/%d/lock-", i, i))
			}
		}
		require.Equal(t, 20, cycles(t, c, "/").Locks)
		require.Equal(t, 1, cycles(t, c, "/many/7").Locks)
		require.Equal(t, &inspect.CycleSurvey{}, cycles(t, c, "/no/such/path"))
	})
}

// One listing for each node. What waits is read once, and what may be stuck twice.
func TestWhatCyclesCost(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for _, node := range []string{"/locks/a/lock-", "/locks/b/lock-", "/x/y/z/lock-", "/jobs/done/lock-", "/limits/l/leases/lease-"} {
			foreign(t, c, node)
		}
		_, err := c.Create(t.Context(), "/jobs/done/k.key", nil, framework.Persistent)
		require.NoError(t, err)
		list := func() map[zktest.Op]int { return w.Requests(func() { cycles(t, c, "/") }) }
		walk := len([]string{"", "locks", "a", "b", "x", "y", "z", "jobs", "done", "limits", "l", "leases"})
		require.Equal(t, map[zktest.Op]int{zktest.OpGetChildren2: walk}, list())
		foreign(t, w.Client("other"), "/locks/a/lock-")
		require.Equal(t, map[zktest.Op]int{zktest.OpGetChildren2: walk + 1, zktest.OpGetData: 2}, list())
		// Now there are two that wait for each other.
		b, c := w.Client("b"), w.Client("c")
		foreign(t, b, "/locks/p/lock-")
		foreign(t, c, "/locks/q/lock-")
		foreign(t, b, "/locks/q/lock-")
		foreign(t, c, "/locks/p/lock-")
		require.Equal(t, map[zktest.Op]int{zktest.OpGetChildren2: walk + 2 + 3 + 2, zktest.OpGetData: 6 + 4}, list())
		require.Len(t, cycles(t, c, "/").Cycles, 1)
	})
}
