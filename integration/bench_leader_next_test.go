package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// BenchmarkMakeNext has a leader make the last candidate the next one, with others
// between, each of a client of its own, and then resign. Before that the leader resigns
// in favour of who is the next one anyway, in a queue as long. "next-ms" is the time of
// MakeNext, "grant-ms" that from the call of Release until the named candidate has its
// term, and "plain-ms" the same without MakeNext: medians. "next/plain" and
// "grant/plain" are the medians of the ratios of each turn, and "timeout/all" is how
// often a hand-over with MakeNext fits in a session timeout.
func BenchmarkMakeNext(b *testing.B) {
	for _, between := range []int{0, 1, 4, 16, 64} {
		b.Run(fmt.Sprintf("between=%d", between), func(b *testing.B) {
			server := ensemble.New(b, benchOptions(true)).Servers()[0]
			r := &nextRace{observer: connect(b, server)}
			for i := range between + 2 {
				r.elections = append(r.elections, newElection(b, connect(b, server), fmt.Sprint(i)))
			}
			require.NoError(b, r.observer.CreateParents(context.Background(), electionPath+"/x"))
			for start := time.Now(); time.Since(start) < warmUp(); {
				r.turn(b, false)
				r.turn(b, true)
			}
			var next, grant, plain []float64
			for b.Loop() {
				_, p := r.turn(b, false)
				n, g := r.turn(b, true)
				next, grant, plain = append(next, n.Seconds()), append(grant, g.Seconds()), append(plain, p.Seconds())
			}
			b.ReportMetric(median(next)*1000, "next-ms")
			b.ReportMetric(median(grant)*1000, "grant-ms")
			b.ReportMetric(median(plain)*1000, "plain-ms")
			b.ReportMetric(median(ratios(next, plain)), "next/plain")
			b.ReportMetric(median(ratios(grant, plain)), "grant/plain")
			b.ReportMetric(sessionTimeout.Seconds()/(median(next)+median(grant)), "timeout/all")
		})
	}
}

// settled is when a candidate has done all that it does for joining the queue.
const settled = 50 * time.Millisecond

// A nextRace is an election that the first of its candidates wins, and the last, or the
// second, after it.
type nextRace struct {
	observer  *framework.Client
	elections []*leader.Election
}

// turn returns how long MakeNext takes, and the hand-over behind it. When it returns
// the queue is empty.
func (r *nextRace) turn(b *testing.B, makeNext bool) (next, grant time.Duration) {
	b.Helper()
	term, err := r.elections[0].Acquire(context.Background(), limit)
	require.NoError(b, err)
	var granted []<-chan *lease.Lease
	for i, e := range r.elections[1:] {
		granted = append(granted, campaign(b, e))
		awaitCandidates(b, r.observer, i+2)
	}
	first := granted[0]
	if makeNext {
		last := len(r.elections) - 1
		first = granted[last-1]
		<-time.After(settled)
		start := time.Now()
		_, err := r.elections[0].MakeNext(within(b, limit), r.elections[last].ID())
		next = time.Since(start)
		require.NoError(b, err)
		awaitCandidates(b, r.observer, len(r.elections)) // who has stepped back is behind
	}
	<-time.After(settled)
	start := time.Now()
	released := make(chan error, 1)
	go func() { released <- term.Release() }()
	held := <-first
	grant = time.Since(start)
	require.NoError(b, <-released)
	require.NoError(b, held.Release())
	for _, g := range granted {
		if g != first {
			go func() { _ = (<-g).ReleaseAsync() }()
		}
	}
	awaitCandidates(b, r.observer, 0)
	return next, grant
}
