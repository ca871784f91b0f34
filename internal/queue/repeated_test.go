package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A listing or a read that fails is made again, however often, and costs the wait
// nothing else.
func TestListingsAndReadsThatFailAreRepeated(t *testing.T) {
	faults := map[string]func(r *zktest.Rule){
		"it is throttled":       func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) },
		"it is not carried out": func(r *zktest.Rule) { r.Cut() },
		"its answer is dropped": func(r *zktest.Rule) { r.After().Cut() },
	}
	for name, fault := range faults {
		for _, op := range []zktest.Op{zktest.OpGetChildren2, zktest.OpGetData} {
			t.Run(op.String()+": "+name, func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					held := w.Acquire(mutexOf(t, w.Client("b")))
					a := w.Client("a")
					for range 2 { // the second is that of the goroutine
						fault(w.Server.On(op, path).Client("a"))
					}
					at := w.Start(mutexOf(t, a), lease.Forever)
					w.After(5 * time.Second)
					require.True(t, at.Waiting())
					require.NoError(t, held.Release())
					got := at.Granted()
					require.NoError(t, got.Confirm(t.Context()))
					require.NoError(t, got.Release())
				})
			})
		}
	}
}

// A crowd reads its nodes few at a time: each read makes room for the next one, also if
// it fails. In the end all are watched, and no more is read.
func TestReadsOfACrowdTakeTurns(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const crowd = 150
		held := w.Acquire(mutexOf(t, w.Client("b")))
		a := w.Client("a")
		queue.SetFront(a, crowd)
		reads := 0
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "a" && c.Op == zktest.OpGetData && c.Phase == zktest.PhaseBeforeApply {
				if reads++; reads%3 == 0 {
					return zktest.Fail(zktest.ThrottledOp)
				}
			}
			return zktest.Pass
		})
		var attempts []*conformance.Attempt
		for range crowd {
			attempts = append(attempts, w.Begin(t.Context(), mutexOf(t, a), lease.Forever))
		}
		w.After(5 * time.Second)
		require.Greater(t, reads, crowd)
		w.Server.SetFaults(nil)
		draining := w.Requests(func() {
			require.NoError(t, held.Release())
			for range attempts {
				w.Settle()
				for _, at := range attempts {
					if !at.Waiting() && at.Lease != nil {
						require.NoError(t, at.Lease.Release())
						at.Lease = nil
					}
				}
			}
		})
		require.Equal(t, crowd+1, draining[zktest.OpDelete])
		require.Zero(t, draining[zktest.OpGetData]+draining[zktest.OpGetChildren2], "%v", draining)
	})
}

// The watch on the node ahead fires because its data was set: it is set again, and its
// deletion admits.
func TestWatchAheadIsSetAgain(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(mutexOf(t, w.Client("b")))
		at := w.Start(mutexOf(t, w.Client("a")), lease.Forever)
		w.After(time.Second)
		for range 3 {
			again := w.Requests(func() {
				_, err := w.Client("operator").Set(t.Context(), held.Path(), []byte("x"), framework.AnyVersion)
				require.NoError(t, err)
				w.Settle()
			})
			require.Equal(t, 2, again[zktest.OpGetData], "that of the holder, too")
		}
		handOver := w.Requests(func() {
			require.NoError(t, held.Release())
			w.Settle()
		})
		require.Equal(t, map[zktest.Op]int{zktest.OpDelete: 1}, handOver)
		require.NoError(t, at.Granted().Release())
	})
}
