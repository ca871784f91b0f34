package histories

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// An absence is a time in which a client was cut off from the majority, with a leader
// without a quorum. What it read then may be old. to is a number of the history.
type absence struct {
	client string
	to     int64 // 0 while it lasts
}

// cutOff leaves a client with such a leader for some time.
func (r *run) cutOff(tr Trouble) {
	r.mu.Lock()
	n := len(r.absences)
	r.absences = append(r.absences, absence{client: tr.Client})
	r.mu.Unlock()
	minority := r.server.Split(tr.Client)
	r.sleep(tr.For)
	minority.End()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.absences[n].to, _ = r.nextLocked()
}

// wasCutOff tells whether a thread's client was cut off at some time since an op began.
func (th *thread) wasCutOff(o op) bool {
	th.mu.Lock()
	defer th.mu.Unlock()
	return slices.ContainsFunc(th.absences, func(a absence) bool {
		return a.client == th.station.name && (a.to == 0 || a.to > o.Call)
	})
}

// errCutOff marks operations that cannot be checked for that reason.
var errCutOff = errors.New("read while it was cut off")

// recordExpiry counts the leases that are not released when their session expires while
// their holder is cut off. They may be lost by then; if one is valid that is a fault.
func (r *run) recordExpiry(c zktest.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	absent := func(a absence) bool { return a.client == c.Client && a.to == 0 }
	if c.Phase != zktest.PhaseExpire || !slices.ContainsFunc(r.absences, absent) {
		return
	}
	for _, t := range r.tenures {
		if !slices.ContainsFunc(t.op.Slots, func(s *slot) bool { return s.session == c.Session }) {
			continue
		}
		if t.lease.Err() == nil || errors.Is(context.Cause(t.lease.Context()), lease.ErrLost) {
			r.struck++
		}
	}
}

// TestReadsWhileCutOffAreNotChecked has a client read what has changed since it was cut
// off.
func TestReadsWhileCutOffAreNotChecked(t *testing.T) {
	forever := lease.Forever
	split := []Trouble{{What: cutOff, Client: clientName(0), At: 100 * time.Millisecond, For: 4 * time.Second}}
	for _, s := range []Scenario{
		{Recipe: "leader", Troubles: split, Threads: []Thread{
			{Client: 0, Steps: []Step{{Do: Look, Pause: 2 * time.Second}}},
			{Client: 1, Steps: []Step{{Wait: forever, Hold: 500 * time.Millisecond}}},
			{Client: 2, Steps: []Step{{Wait: forever, Pause: time.Second, Hold: 3 * time.Second}}},
		}},
		{Recipe: "semaphore", Troubles: split, Threads: []Thread{
			{Client: 0, Steps: []Step{{Do: Look, Pause: 2 * time.Second}}},
			{Client: 1, Steps: []Step{{Do: Resize, N: 4, Pause: time.Second}, {N: 3, Wait: forever, Hold: 3 * time.Second}}},
		}},
	} {
		s.Seed = 1
		require.Empty(t, s.Run(t).Broken, s.Recipe)
	}
}
