package once_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Whatever happens to one request of a client, before or after it is carried out, a run
// that two clients do is recorded once, and so is what goes with it.
func TestFaultAtEachRequest(t *testing.T) {
	for name, action := range map[string]zktest.Action{
		"cut":       zktest.CutConnection,
		"expire":    zktest.ExpireSession,
		"delay":     zktest.Delay(2 * time.Second),
		"lost":      zktest.Fail(zktest.ConnectionLoss),
		"timeout":   zktest.Fail(zktest.OperationTimeout),
		"throttled": zktest.Fail(zktest.ThrottledOp),
	} {
		for _, phase := range []zktest.Phase{zktest.PhaseBeforeApply, zktest.PhaseAfterApply} {
			t.Run(fmt.Sprint(name, " ", phase), func(t *testing.T) {
				struck := 0
				for n := range 25 {
					conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
						jobs := []*once.Job{withEffects(t, w.Client("a")), newJob(t, w.Client("b"))}
						if strikeOne(t, w, jobs, phase, action, n) {
							struck++
						}
					})
				}
				require.Greater(t, struck, 5)
			})
		}
	}
}

// strikeOne has the jobs do a run, and strikes request n of client a, counted
// from 0, if it sends so many.
func strikeOne(t *testing.T, w *conformance.World, jobs []*once.Job, phase zktest.Phase, action zktest.Action, n int) (struck bool) {
	at, call := 0, ""
	w.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Client != "a" || c.Phase != phase || c.Op == zktest.OpPing || c.Op == zktest.OpSync {
			return zktest.Pass
		}
		if at++; at != n+1 {
			return zktest.Pass
		}
		call = c.String()
		return action
	})
	errs := make(chan error, len(jobs))
	for _, j := range jobs {
		go func() { errs <- counted(t.Context(), j.Key("a")) }()
	}
	one, other := <-errs, <-errs
	w.Server.SetFaults(nil)
	if one != nil && other != nil {
		require.NoError(t, counted(t.Context(), jobs[1].Key("a")))
	}
	require.Len(t, w.Server.Children(effects), 1, "%s: %v, %v", call, one, other)
	require.Equal(t, []string{"a.key"}, w.Server.Children(done), "%s: %v, %v", call, one, other)
	return call != ""
}
