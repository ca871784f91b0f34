package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// exporterMetrics are all metrics of "exporter", by name, with the text of their HELP
// lines. Each is a gauge.
var exporterMetrics = []metric{
	{"zkrecipes_build_info", "1. The labels say which zkrecipes this is."},
	{"zkrecipes_exporter_survey_seconds", "How long it took to look at all locks for this scrape."},
	{"zkrecipes_exporter_up", "1 if all locks could be looked at, 0 if ZooKeeper did not answer. Then all others are absent but build_info."},
	{"zkrecipes_litter", "What programs have left behind, without what the servers may still remove. See zkrecipes help litter."},
	{"zkrecipes_lock_held_since_timestamp_seconds", "Since when the first holder has held, by the clock of the servers; absent if nobody holds."},
	{"zkrecipes_lock_holder", "1. The labels say who has held longest; only for one lock, and if it has held for --holder-after."},
	{"zkrecipes_lock_holding", "How many clients hold."},
	{"zkrecipes_lock_size", "How many permits or stripes there are, where that is stored."},
	{"zkrecipes_lock_waiting", "How many clients wait."},
	{"zkrecipes_lock_waiting_since_timestamp_seconds", "Since when the first waiter has waited, by the clock of the servers; absent if none waits."},
	{"zkrecipes_locks_contended", "Locks for which clients wait, also those without series of their own."},
	{"zkrecipes_locks_in_use", "Locks that clients hold or wait for, also those without series of their own."},
	{"zkrecipes_locks_left_out", "Locks beyond --limit, without series of their own."},
	{"zkrecipes_locks_waiters", "Clients that wait for all locks, also for those without series of their own."},
	{"zkrecipes_paths_unreadable", "Paths that may not be read. What is below them counts nowhere."},
}

// withoutSurvey is what a scrape gets when there is no survey.
func withoutSurvey() exposition {
	e := exposition{}
	e.addUp(0)
	return e
}

// addUp adds what each scrape gets.
func (e exposition) addUp(up float64) {
	b := thisBuild()
	e.add("zkrecipes_exporter_up", up)
	e.add("zkrecipes_build_info", 1, "version", cmp.Or(b.Version, "unknown"), "go", b.Go)
}

// addLitter counts what is certainly left behind, by its kind. All kinds are there.
func (e exposition) addLitter(found []inspect.Litter) {
	for _, a := range advice {
		e.add("zkrecipes_litter", 0, "kind", string(a.kind))
	}
	for _, l := range found {
		if l.Certain {
			e.add("zkrecipes_litter", 1, "kind", string(l.Kind))
		}
	}
}

// A lockView is which locks have series of their own.
type lockView struct {
	label       func(path string) string // locks of one label share a series
	limit       int                      // of series of each metric; 0 for none
	holderAfter time.Duration
	heldFor     map[string]time.Duration // at least, by the path of the holder's node
}

// pathLabel is the label of a lock that has its own. Backslashes are doubled, so that a
// path which is escaped is not taken for one that looks the same.
func pathLabel(path string) string { return quote.Path(strings.ReplaceAll(path, `\`, `\\`)) }

// lockRecipes are the values of the label recipe.
var lockRecipes = []inspect.Recipe{inspect.Lock, inspect.Election, inspect.Semaphore, inspect.Stripe, inspect.Run}

// A lockGroup is the locks that share a series.
type lockGroup struct {
	path, recipe     string
	locks            []*inspect.LockInUse
	holding, waiting int
	size             float64   // stripes may be as many as somebody has written
	heldSince        time.Time // the earliest; zero for none, as the next
	waitingSince     time.Time
}

// addLocks adds all that there is about locks.
func (e exposition) addLocks(found []inspect.LockInUse, view lockView) {
	for _, recipe := range lockRecipes {
		for _, name := range []string{"zkrecipes_locks_in_use", "zkrecipes_locks_contended", "zkrecipes_locks_waiters"} {
			e.add(name, 0, "recipe", string(recipe))
		}
	}
	for i := range found {
		recipe := string(found[i].Recipe)
		e.add("zkrecipes_locks_in_use", 1, "recipe", recipe)
		e.add("zkrecipes_locks_waiters", float64(found[i].Waiting), "recipe", recipe)
		if found[i].Waiting > 0 {
			e.add("zkrecipes_locks_contended", 1, "recipe", recipe)
		}
	}
	groups := groupLocks(found, view.label)
	most := len(groups)
	if view.limit > 0 {
		most = min(view.limit, most)
	}
	for _, g := range groups[:most] {
		e.addGroup(g)
		if l := g.locks[0]; len(g.locks) == 1 && !l.HeldSince().IsZero() && view.heldFor[l.Head.Path] >= view.holderAfter {
			e.addHolder(g, l.Head)
		}
	}
	e.add("zkrecipes_locks_left_out", 0)
	for _, g := range groups[most:] {
		e.add("zkrecipes_locks_left_out", float64(len(g.locks)))
	}
}

// groupLocks returns the groups in the order in which they get series: those with most
// waiters first, of equal ones those that have been held longest.
func groupLocks(found []inspect.LockInUse, label func(path string) string) []*lockGroup {
	type key struct{ path, recipe string }
	byKey, groups := map[key]*lockGroup{}, []*lockGroup{}
	for i := range found {
		l := &found[i]
		k := key{label(l.Path), string(l.Recipe)}
		g := byKey[k]
		if g == nil {
			g = &lockGroup{path: k.path, recipe: k.recipe}
			byKey[k], groups = g, append(groups, g)
		}
		g.locks = append(g.locks, l)
		g.holding, g.waiting, g.size = g.holding+l.Holding, g.waiting+l.Waiting, g.size+float64(l.Size)
		g.heldSince = earliest(g.heldSince, l.HeldSince())
		g.waitingSince = earliest(g.waitingSince, l.WaitingSince)
	}
	slices.SortFunc(groups, func(a, b *lockGroup) int {
		return cmp.Or(cmp.Compare(b.waiting, a.waiting), longerHeld(a.heldSince, b.heldSince),
			cmp.Compare(a.path, b.path), cmp.Compare(a.recipe, b.recipe))
	})
	return groups
}

// earliest returns the earlier of two times, of which a zero one is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// longerHeld compares by since when, with those that nobody holds at the end.
func longerHeld(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		return b.Compare(a)
	}
	return a.Compare(b)
}

// addGroup adds the series of one group.
func (e exposition) addGroup(g *lockGroup) {
	of := g.labels()
	e.add("zkrecipes_lock_holding", float64(g.holding), of...)
	e.add("zkrecipes_lock_waiting", float64(g.waiting), of...)
	if g.size > 0 {
		e.add("zkrecipes_lock_size", g.size, of...)
	}
	if !g.heldSince.IsZero() {
		e.add("zkrecipes_lock_held_since_timestamp_seconds", unixSeconds(g.heldSince), of...)
	}
	if !g.waitingSince.IsZero() {
		e.add("zkrecipes_lock_waiting_since_timestamp_seconds", unixSeconds(g.waitingSince), of...)
	}
}

// addHolder says who holds, or has held longest.
func (e exposition) addHolder(g *lockGroup, head inspect.Contender) {
	pid := ""
	if head.Holder.PID != 0 {
		pid = strconv.Itoa(head.Holder.PID)
	}
	who := cmp.Or(head.Holder.Who, head.Holder.Host, hexSession(head.Session))
	e.add("zkrecipes_lock_holder", 1, append(g.labels(), "holder", quote.Brief(who), "host", quote.Brief(head.Holder.Host), "pid", pid)...)
}

func (g *lockGroup) labels() []string { return []string{"path", g.path, "recipe", g.recipe} }

func unixSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
