package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Times are those of the slots of a recipe.
type Times struct {
	// MaxHold ends each lease; 0 is no limit.
	MaxHold time.Duration
	// MinHold is for how long a slot stays taken at least; 0 is none.
	MinHold time.Duration
	// LockDelay is for how long a slot stays closed after an unclean end; 0 is none.
	LockDelay time.Duration
}

// Timed returns a recipe with these times.
type Timed func(Times) Recipe

// A timedRow is a row about times.
type timedRow = func(t *testing.T, w *World, with Timed)

// timedRows are such rows by their names.
type timedRows = map[string]timedRow

// RunLockDelay runs the rows about a lock-delay, each in a World of its own. Those that
// no reaping may change run once more while empty containers are removed all the time.
func RunLockDelay(t *testing.T, with Timed) {
	r := with(Times{})
	sets := []timedRows{delayedEnds, delayedWaits}
	if r.Slots != 1 {
		sets = append(sets, delayedSharing)
	}
	if r.Readers != nil {
		sets = append(sets, delayedDowngrades)
	}
	for _, set := range sets {
		runTimed(t, with, set)
		t.Run("while empty parents are reaped", func(t *testing.T) { runTimed(t, with, set, zktest.WithReapInterval(10*time.Millisecond)) })
	}
	if r.Locks <= 1 { // the first lock of several would decide
		runTimed(t, with, delayMismatches)
	}
}

// RunMinHold runs the rows about a minimum hold time.
func RunMinHold(t *testing.T, with Timed) {
	runTimed(t, with, minHolds)
	if !with(Times{}).NotReentrant {
		runTimed(t, with, minHoldEntries)
	}
}

// RunLockDelayAndMinHold runs the rows about both.
func RunLockDelayAndMinHold(t *testing.T, with Timed) { runTimed(t, with, delayedRests) }

func runTimed(t *testing.T, with Timed, set timedRows, opts ...zktest.Option) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		t.Run(name, func(t *testing.T) {
			InWorld(t, func(t *testing.T, w *World) { set[name](t, w, with) }, opts...)
		})
	}
}

// below returns the paths of all nodes below one.
func (w *World) below(path string) (all []string) {
	for _, name := range w.Server.Children(path) {
		child := path + "/" + name
		all = append(all, child)
		all = append(all, w.below(child)...)
	}
	return all
}

// Records returns the paths of the nodes by which a lock-delay knows of holders.
func (w *World) Records() []string {
	return slices.DeleteFunc(w.below("/conformance"), func(path string) bool { return !strings.Contains(path, "/"+znode.LockDelayDir+"/") })
}

// kill cuts clients off until the servers have ended their sessions, all at the same
// time, which is exact to a millisecond.
func (w *World) kill(clients ...*framework.Client) {
	w.T.Helper()
	sessions := map[int64]string{}
	for _, s := range w.Server.Sessions() {
		for _, c := range clients {
			if c.Session().ID() == s.ID {
				sessions[s.ID] = s.Client
			}
		}
	}
	require.Len(w.T, sessions, len(clients))
	for _, name := range sessions {
		w.Server.Partition(name, true)
	}
	w.After(SessionTimeout / 2)
	for w.live(sessions) == len(sessions) {
		w.After(time.Millisecond)
	}
	for id, name := range sessions {
		w.Server.ExpireSession(id)
		w.Server.Partition(name, false) // what is left of the process comes back too late
	}
	w.Settle()
}

// live returns how many of these sessions the servers have.
func (w *World) live(sessions map[int64]string) (n int) {
	for _, s := range w.Server.Sessions() {
		if _, some := sessions[s.ID]; some {
			n++
		}
	}
	return n
}

// holders takes all slots of a recipe at the same moment, each through a client of its
// own that has a CloseGrace.
func holders(w *World, r Recipe) (held []*lease.Lease, clients []*framework.Client) {
	w.T.Helper()
	slots := max(r.Slots, 1)
	if r.Block != nil {
		slots = 1
	}
	for i := range slots {
		name := fmt.Sprint("holder", i)
		if c := w.named[name]; c == nil || c.State() == framework.Closed {
			w.Client(name, func(cfg *framework.Config) { cfg.CloseGrace = closeGrace })
		}
		clients = append(clients, w.named[name])
	}
	return fill(w, r), clients
}

// requireGrantedAt requires that an attempt that has begun is granted at a moment, give
// or take a millisecond, and returns the lease.
func (w *World) requireGrantedAt(r Recipe, at *Attempt, due time.Time) *lease.Lease {
	w.T.Helper()
	w.After(time.Until(due) - 2*time.Millisecond)
	require.True(w.T, at.Waiting(), "it is granted before it is due")
	w.After(4 * time.Millisecond)
	if r.Spread && at.Waiting() { // it looks at other slots now and then
		w.After(100 * time.Millisecond)
	}
	require.False(w.T, at.Waiting(), "it is not granted when it is due")
	return at.Granted()
}
