//go:build unix

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// ownPaths is a view of all locks, with the holder of each.
var ownPaths = lockView{label: pathLabel}

// heldLock is a lock that somebody has held for as many seconds.
func heldLock(path string, seconds int) inspect.LockInUse {
	since := time.Now().Add(-time.Duration(seconds) * time.Second)
	return inspect.LockInUse{Path: path, Recipe: inspect.Lock, Queues: 1, Holding: 1, Head: inspect.Contender{
		Contender: lease.Contender{Path: path + "/lock-0000000000", Token: lease.Token(seconds + 1), Session: 7, Enqueued: since}, State: inspect.Held,
	}}
}

// With a limit, the locks with most waiters have series, then those that were held
// longest, and nothing is lost from the sums.
func TestLimitOfTheExporter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no time passes
		var found []inspect.LockInUse
		for i := range 10 {
			l := heldLock(fmt.Sprintf("/l%d", i), i)
			l.Waiting = []int{0, 0, 0, 5, 5, 0, 9, 1, 1, 0}[i]
			found = append(found, l)
		}
		free := heldLock("/free", 0)
		free.Head.State, free.Holding, free.Waiting = inspect.Waiting, 0, 1
		found = append(found, free)
		order := func(limit int) (paths []string, read map[string][]scraped) {
			e, view := exposition{}, ownPaths
			view.limit = limit
			e.addLocks(found, view)
			read = parseScrape(t, e.String())
			for _, name := range []string{"zkrecipes_lock_holding", "zkrecipes_lock_waiting", "zkrecipes_lock_held_since_timestamp_seconds", "zkrecipes_lock_holder"} {
				require.LessOrEqual(t, len(read[name]), max(limit, 1))
			}
			for _, s := range read["zkrecipes_lock_holding"] {
				paths = append(paths, s.labels["path"])
			}
			return paths, read
		}
		want := []string{"/l6", "/l4", "/l3", "/l8", "/l7", "/free", "/l9", "/l5", "/l2", "/l1", "/l0"}
		for limit := 1; limit <= 12; limit++ {
			paths, read := order(limit)
			require.ElementsMatch(t, want[:min(limit, 11)], paths, limit)
			require.Equal(t, max(11-limit, 0), number(t, read, "zkrecipes_locks_left_out"))
			require.Equal(t, 11, number(t, read, "zkrecipes_locks_in_use", "recipe", "lock"))
			require.Equal(t, 6, number(t, read, "zkrecipes_locks_contended", "recipe", "lock"))
			require.Equal(t, 22, number(t, read, "zkrecipes_locks_waiters", "recipe", "lock"))
			require.Equal(t, 0, number(t, read, "zkrecipes_locks_in_use", "recipe", "election"))
		}
		e := exposition{}
		e.addLocks(found, ownPaths)
		require.Len(t, parseScrape(t, e.String())["zkrecipes_lock_holding"], 11, "0 is no limit")
	})
}

// Locks of one template share a series, and nobody is named as the holder of several.
func TestTemplatesOfTheExporter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no time passes
		p := &program{}
		x, err := p.newExporter(strings.Fields("--servers x:1 --paths /locks/orders,/locks/* --holder-after 0s --limit 2"))
		require.NoError(t, err)
		sized := heldLock("/locks/b", 30)
		sized.Recipe, sized.Size, sized.Holding = inspect.Semaphore, 4, 3
		other := heldLock("/locks/c", 40)
		other.Recipe, other.Size, other.Waiting, other.WaitingSince = inspect.Semaphore, 5, 2, time.Now().Add(-7*time.Second)
		later := heldLock("/locks/d", 1)
		later.Recipe, later.Waiting, later.WaitingSince = inspect.Semaphore, 1, time.Now().Add(-2*time.Second)
		e := exposition{}
		e.addLocks([]inspect.LockInUse{heldLock("/locks/orders", 5), sized, other, later, heldLock("/other", 4), heldLock("/elsewhere/x", 3)}, x.view)
		read := parseScrape(t, e.String())
		require.Len(t, read["zkrecipes_lock_holding"], 2)
		of := []string{"path", "/locks/*", "recipe", "semaphore"}
		require.Equal(t, 5, number(t, read, "zkrecipes_lock_holding", of...))
		require.Equal(t, 3, number(t, read, "zkrecipes_lock_waiting", of...))
		require.Equal(t, 9, number(t, read, "zkrecipes_lock_size", of...))
		require.InDelta(t, float64(time.Now().Add(-40*time.Second).Unix()), value(t, read, "zkrecipes_lock_held_since_timestamp_seconds", of...), 3)
		require.InDelta(t, float64(time.Now().Add(-7*time.Second).Unix()), value(t, read, "zkrecipes_lock_waiting_since_timestamp_seconds", of...), 3)
		require.Len(t, read["zkrecipes_lock_holder"], 1)
		require.Equal(t, 1, number(t, read, "zkrecipes_lock_holder", "path", "/locks/orders", "holder", "0x7"))
		require.Equal(t, 2, number(t, read, "zkrecipes_locks_left_out"), "both others")
	})
}

// A node says how many stripes there are, and anybody may have written it.
func TestSizesThatAreTooLargeToAdd(t *testing.T) {
	found := []inspect.LockInUse{heldLock("/a", 1), heldLock("/b", 2)}
	for i := range found {
		found[i].Recipe, found[i].Size = inspect.Stripe, math.MaxInt
	}
	e := exposition{}
	e.addLocks(found, lockView{label: func(string) string { return "/*" }})
	require.InEpsilon(t, 2*float64(math.MaxInt), value(t, parseScrape(t, e.String()), "zkrecipes_lock_size"), 1e-9)
}

// What nobody holds, and whose holder is not known, has no holder and no time.
func TestSeriesOfWhatIsNotKnown(t *testing.T) {
	hidden := heldLock("/hidden", 0)
	hidden.Head.Enqueued = time.Time{}
	waiting := heldLock("/waiting", 0)
	waiting.Holding, waiting.Waiting, waiting.Head.State = 0, 1, inspect.Waiting
	e := exposition{}
	e.addLocks([]inspect.LockInUse{hidden, waiting}, ownPaths)
	read := parseScrape(t, e.String())
	require.Len(t, read["zkrecipes_lock_holding"], 2)
	for _, name := range []string{"zkrecipes_lock_holder", "zkrecipes_lock_held_since_timestamp_seconds", "zkrecipes_lock_waiting_since_timestamp_seconds", "zkrecipes_lock_size"} {
		require.NotContains(t, read, name)
	}
}

// Who was in the queue for a long time, but has held only now, makes no series: else a
// lock with a long queue would have as many as there are scrapes.
func TestHoldersThatWereSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &holders{}
		old := heldLock("/a", 3600)
		at := old.Head.Path
		require.Zero(t, h.see([]inspect.LockInUse{old}, time.Now())[at])
		time.Sleep(15 * time.Second)
		require.Equal(t, 15*time.Second, h.see([]inspect.LockInUse{old}, time.Now())[at])
		time.Sleep(15 * time.Second)
		require.Equal(t, 30*time.Second, h.see([]inspect.LockInUse{old}, time.Now())[at])
		next := old
		next.Head.Token++
		require.Zero(t, h.see([]inspect.LockInUse{next}, time.Now())[at], "another node of that name")
		require.Len(t, h.since, 1, "those that have left are forgotten")
		granted := old
		granted.Granted = time.Now().Add(-time.Minute)
		require.Equal(t, time.Minute, h.see([]inspect.LockInUse{granted}, time.Now())[at], "what is stored is known at once")
		require.Empty(t, h.see(nil, time.Now()))
		require.Empty(t, h.since)
	})
}

// In a crowd whose members hold for a second each, nobody is named, whatever the time
// that they have waited.
func TestBusyLockNamesNobody(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		x := exporterIn(t, w)
		c := w.Client("c")
		for range 40 {
			javaNode(t, c, "/busy/lock-")
		}
		for range 20 {
			time.Sleep(15 * time.Second)
			read := scrapeOf(t, x)
			require.Len(t, read["zkrecipes_lock_holding"], 1)
			require.Empty(t, read["zkrecipes_lock_holder"])
			names := w.Server.Children("/busy")
			slices.SortFunc(names, func(a, b string) int { return strings.Compare(a[len(a)-10:], b[len(b)-10:]) })
			require.NoError(t, c.Delete(t.Context(), "/busy/"+names[0], framework.AnyVersion))
		}
		scrapeOf(t, x)
		time.Sleep(15 * time.Second)
		require.Len(t, scrapeOf(t, x)["zkrecipes_lock_holder"], 1, "this one was seen twice")
	})
}
