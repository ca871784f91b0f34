package faultsweep

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A grouping is two clients that contend for several mutexes at once, so that their
// creates and deletes travel together. One group is struck, before or after it took
// effect.
type grouping struct {
	strike int // which call of a group, or of listings that travel together; 0 for none
	action zktest.Action

	server   *zktest.Server
	referees []*conformance.Referee // one for each mutex

	mu     sync.Mutex
	groups int
	lost   int
}

const (
	struck       = "struck" // the client whose groups are
	together     = 16       // mutexes
	inSuccession = 3        // how often each worker acquires
)

// TestEveryGroupFails strikes each group of a run with each fault.
func TestEveryGroupFails(t *testing.T) {
	free := grouping{}
	free.run(t)
	require.Zero(t, free.lost)
	require.Greater(t, free.groups, 10)
	runs, lost := 0, 0
	for n := 1; n <= free.groups; n += extent.Slowdown() {
		for _, action := range Actions() {
			g := grouping{strike: n, action: action}
			g.run(t)
			require.False(t, t.Failed(), "%v at call %d", action, n)
			runs++
			lost += g.lost
		}
	}
	t.Logf("%d calls, %d runs, %d leases lost", free.groups, runs, lost)
	require.Positive(t, lost, "no fault hit a holder")
}

func (g *grouping) run(t *testing.T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g.server = zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		for range together {
			r := aMutex.Referee()
			r.Excuse = func(*lease.Lease) bool { return g.action == zktest.ExpireSession }
			g.referees = append(g.referees, r)
		}
		g.server.SetFaults(g.faults)
		var clients sync.WaitGroup
		for _, name := range []string{struck, "other"} {
			clients.Go(func() { g.client(t, name) })
		}
		clients.Wait()
		g.server.SetFaults(nil)
		<-time.After(Past + 2*conformance.SessionTimeout)
		for i, r := range g.referees {
			assert.Empty(t, r.Faults())
			assert.Empty(t, g.server.Children(g.path(i)))
		}
		assert.Empty(t, g.server.Sessions())
		assert.Zero(t, g.server.Watches())
	})
}

func (g *grouping) path(i int) string { return fmt.Sprintf("/together/%d", i) }

// faults lets every write take some time, and strikes one group.
func (g *grouping) faults(c zktest.Call) zktest.Action {
	g.mu.Lock()
	defer g.mu.Unlock()
	if (c.Op == zktest.OpMulti || c.Op == zktest.OpMultiRead) && c.Client == struck {
		if g.groups++; g.groups == g.strike {
			return g.action
		}
	}
	if c.Phase == zktest.PhaseBeforeApply && (c.Op == zktest.OpMulti || c.Op == zktest.OpCreate || c.Op == zktest.OpDelete) {
		return zktest.Delay(time.Millisecond)
	}
	return zktest.Pass
}

// client acquires all mutexes at once, again and again.
func (g *grouping) client(t *testing.T, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	c, err := framework.Connect(ctx, conformance.Config(g.server, name))
	if !assert.NoError(t, err) {
		return
	}
	defer c.Close()
	var workers sync.WaitGroup
	for i := range together {
		workers.Go(func() {
			for range inSuccession {
				g.cycle(ctx, t, c, name, i)
			}
		})
	}
	workers.Wait()
}

func (g *grouping) cycle(ctx context.Context, t *testing.T, c *framework.Client, name string, i int) {
	t.Helper()
	l, err := aMutex.New(c, g.path(i)).Acquire(ctx, lease.Forever)
	if !assert.NoError(t, err) {
		return
	}
	g.referees[i].Grant(name, l)
	<-time.After(time.Millisecond)
	g.referees[i].Look()
	err = l.Release()
	if err != nil {
		assert.ErrorIs(t, err, lease.ErrLost)
		g.mu.Lock()
		g.lost++
		g.mu.Unlock()
	}
	g.referees[i].Look()
}
