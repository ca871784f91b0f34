package faultsweep

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// onProcs runs a plan with a value of GOMAXPROCS.
func onProcs(t *testing.T, p Plan, n int) Report {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	return p.Run(t)
}

// hash is a hash of all that happened on the server, and when.
func hash(trace []zktest.Event) string {
	h := sha256.New()
	for _, e := range trace {
		fmt.Fprintln(h, e.Time.UnixNano(), e.Session, e)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// difference shows where two traces begin to differ.
func difference(a, b []zktest.Event) string {
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && a[i] == b[i] {
			continue
		}
		text := ""
		for _, trace := range [][]zktest.Event{a, b} {
			text += "  one run\n"
			for _, e := range trace[min(max(0, i-5), len(trace)):min(i+5, len(trace))] {
				text += fmt.Sprintf("    %s %v\n", e.Time.Format("05.000000"), e)
			}
		}
		return text
	}
	return ""
}

// TestPlansRepeat requires that 99 of a hundred lean plans give the same trace with
// another GOMAXPROCS. On a busy machine one of several thousand pairs of runs differs:
// two things happen in one client at the same moment, such as the end of a connection
// and the timer of an attempt. Under the race detector more of them differ, because
// goroutines run so slowly that the Go scheduler interrupts them. ZKRECIPES_REPEAT is
// the number of plans.
func TestPlansRepeat(t *testing.T) {
	plans := extent.Amount(t, "ZKRECIPES_REPEAT", 300/extent.Slowdown())
	all, same := sha256.New(), 0
	for seed := range plans {
		p := RandomLean(aMutex, uint64(seed))
		once, again := onProcs(t, p, 1).Trace, onProcs(t, p, 2).Trace
		if hash(once) == hash(again) {
			same++
		} else {
			t.Logf("%v\n%s", p, difference(once, again))
		}
		fmt.Fprintln(all, hash(once))
	}
	t.Logf("%d of %d lean plans did the same twice, all together %x", same, plans, all.Sum(nil)[:8])
	allowed := max(1, plans/100)
	if extent.Race {
		allowed *= 2
	}
	require.GreaterOrEqual(t, same, plans-allowed)
}
