package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A LockSurvey is what Locks found.
type LockSurvey struct {
	// Locks are those in use: that have a contender. They are sorted by path.
	Locks []LockInUse
	// Unreadable are the paths that the client may not read, sorted. What is below them
	// was left out. If one is the node of a contender, that is counted, but what it
	// says is not known.
	Unreadable []string
}

// A LockInUse is a lock, a semaphore or an election with contenders, all stripes at a
// path, or all runs of a job. There are several of the same path if it is used for
// several of these, as by other clients.
type LockInUse struct {
	// Path is that of the recipe, as for the function Path.
	Path string
	// Recipe is what it is. It is Stripe for all stripes together, and Run for all runs
	// of a job.
	Recipe Recipe
	// Queues is how many stripes or runs have contenders; 1 for all others.
	Queues int
	// Size is how many permits or stripes there are, 0 if that is not stored.
	Size int
	// Holding is how many contenders hold. In a semaphore with two queues that is one
	// for each permit, in one with a single queue one for each lease.
	Holding int
	// Waiting is how many wait, Unknown of how many it is not known: see the State
	// Unknown.
	Waiting, Unknown int
	// Head is the first one in the queue: of several that hold the one that has held
	// longest, of several queues as well. Its State is Held unless nobody holds, or it
	// is not known who does. If its node may not be read, or has left since the queue
	// was listed, only State, Kind, Node and Path are set.
	Head Contender
	// Granted is when the Head was granted what it holds, by the server's clock. It is
	// zero if that is not known: only permits in a semaphore with two queues and paths
	// with a lock-delay store it. Then it was at Head.Enqueued or later.
	Granted time.Time
	// WaitingSince is when the first of those that wait joined the queue, by the
	// server's clock; zero if none waits, or it has left since the queue was listed.
	WaitingSince time.Time
}

// HeldSince returns when the Head was granted what it holds, or, if that is not known,
// when it joined the queue. It is zero if it does not hold, or neither is known.
func (l *LockInUse) HeldSince() time.Time {
	switch {
	case l.Head.State != Held:
		return time.Time{}
	case l.Granted.IsZero():
		return l.Head.Enqueued
	}
	return l.Granted
}

// Locks finds all locks, semaphores and elections in use below a path, and at it. It
// reads what the head of each queue says, but not what the others do. That there is no
// node at the path is no error. See the package for what it costs.
//
// Errors: those of Path, but the path may be "/", and what the client may not read is
// no error.
func Locks(ctx context.Context, client *framework.Client, path string) (*LockSurvey, error) {
	w := &walk{client: client, denied: new(denied), keepsNames: true, records: map[string][]string{}}
	if err := w.from(ctx, path); err != nil {
		return nil, err
	}
	heads := make([]LockInUse, len(w.places))
	if err := atATime(len(heads), func(i int) (err error) {
		heads[i], err = w.head(ctx, &w.places[i])
		return err
	}); err != nil {
		return nil, err
	}
	found := &LockSurvey{Locks: merge(heads, path)}
	if err := atATime(len(found.Locks), func(i int) error { return w.readStripes(ctx, &found.Locks[i]) }); err != nil {
		return nil, err
	}
	found.Unreadable = w.denied.sorted()
	return found, nil
}

// from checks a path, and walks from it.
func (w *walk) from(ctx context.Context, path string) error {
	at := recipepath.Intent{Client: w.client, Path: path, Package: "inspect", What: "a recipe"}
	if path == "/" {
		at.Path = "/any"
	}
	if err := at.Check(); err != nil {
		return err
	}
	if err := w.client.Sync(ctx, path); err != nil {
		return err
	}
	return w.all(ctx, path)
}

// merge joins the queues of the stripes of one path, and those of the runs of a job.
// Those that have no contender any more are left out. At the root of a walk a stripe or
// a run is a lock.
func merge(queues []LockInUse, root string) (all []LockInUse) {
	at := map[string]int{}
	for _, q := range queues {
		if q.Queues == 0 {
			continue
		}
		if dir, recipe := partOf(q.Path); q.Recipe == Lock && recipe != "" && q.Path != root {
			q.Path, q.Recipe = dir, recipe
			key := string(recipe) + dir
			if i, found := at[key]; found {
				all[i].add(q)
				continue
			}
			at[key] = len(all)
		}
		all = append(all, q)
	}
	slices.SortStableFunc(all, func(a, b LockInUse) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

// partOf returns the path that a lock is a part of, by its name: a Stripe, or a Run. It
// is none if the recipe is "".
func partOf(path string) (dir string, recipe Recipe) {
	dir, name := split(path)
	if dir == "" {
		return "", ""
	}
	if _, ok := znode.ParseStripeDir(name); ok {
		return dir, Stripe
	}
	if _, _, ok := znode.ParseRun(name); ok {
		return dir, Run
	}
	return "", ""
}

// add adds another queue at the same path.
func (l *LockInUse) add(q LockInUse) {
	l.Queues += q.Queues
	l.Holding, l.Waiting, l.Unknown = l.Holding+q.Holding, l.Waiting+q.Waiting, l.Unknown+q.Unknown
	if l.WaitingSince.IsZero() || !q.WaitingSince.IsZero() && q.WaitingSince.Before(l.WaitingSince) {
		l.WaitingSince = q.WaitingSince
	}
	if at := q.HeldSince(); !at.IsZero() && (l.HeldSince().IsZero() || at.Before(l.HeldSince())) {
		l.Head, l.Granted = q.Head, q.Granted
	}
}
