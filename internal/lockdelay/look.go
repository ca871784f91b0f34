package lockdelay

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// dropReleased drops those ahead that have released, also while the slot was closed.
// The position has no event for that: they do not keep it out alone.
func (a *attempt) dropReleased(ctx context.Context, names []string) error {
	var some []*ending
	for _, name := range a.p.Ahead() {
		if !slices.Contains(names, name.Node) && (a.names == nil || slices.Contains(a.names, name.Node)) {
			some = append(some, &ending{node: a.p.Queue().Node(name.Node)})
		}
	}
	err := each(some, func(e *ending) {
		var exists bool
		if exists, _, e.err = a.client.Exists(ctx, e.node); !exists {
			e.seen = time.Now()
		}
	})
	var gone []string
	for _, e := range some {
		if !e.seen.IsZero() {
			gone = append(gone, path.Base(e.node))
		}
	}
	a.names = slices.Concat(names, gone)
	a.p.DropAhead(func(name znode.Name) bool { return slices.Contains(gone, name.Node) })
	return err
}

// maxLooks is how many nodes are looked at at once.
const maxLooks = 16

// each calls a function for all, some at the same time.
func each(all []*ending, f func(e *ending)) error {
	for some := range slices.Chunk(all, maxLooks) {
		var calls sync.WaitGroup
		for _, e := range some {
			calls.Go(func() { f(e) })
		}
		calls.Wait()
		for _, e := range some {
			if e.err != nil {
				return e.err
			}
		}
	}
	return nil
}

// look looks at the holders that are not known to have ended. Some may live: a writer
// that has become a reader has made a node ahead of those that wait.
func (a *attempt) look(ctx context.Context, holders []znode.Name) error {
	var looks []*ending
	for _, name := range holders {
		if record := a.dir + "/" + name.Node; a.seen[record] == nil {
			looks = append(looks, &ending{node: a.p.Queue().Node(name.Node), record: record})
		}
	}
	if len(looks) == 0 {
		return nil
	}
	if err := a.readMade(ctx); err != nil {
		return err
	}
	err := each(looks, func(e *ending) { a.lookAt(ctx, e) })
	for _, e := range looks {
		if e.err == nil && !e.seen.IsZero() {
			a.see(e)
		}
	}
	return err
}

// lookAt looks at a holder. If it has ended that is marked, unless it is: the time of
// the mark counts for later newcomers. A holder that releases just now may look like
// that.
func (a *attempt) lookAt(ctx context.Context, e *ending) {
	exists, _, err := a.client.Exists(ctx, e.node)
	if exists || err != nil {
		e.err = err
		return
	}
	e.seen = time.Now()
	data, stat, err := a.client.Get(ctx, e.record)
	switch {
	case err != nil && !errors.Is(err, framework.ErrNoNode) && !errors.Is(err, framework.ErrNoAuth):
		e.err = err
	case stat.EphemeralOwner != 0: // no record, but a contender of another lock
		e.seen = time.Time{}
	case err == nil:
		e.holder = queue.HolderOf(e.node, data)
		if stat.Version == 0 {
			_, _ = a.client.Set(ctx, e.record, data, 0)
		} else {
			e.isOld = a.made.Sub(stat.Mtime)/2 >= a.delay
		}
	}
}

// readMade reads when the position's node was made.
func (a *attempt) readMade(ctx context.Context) error {
	if !a.made.IsZero() {
		return nil
	}
	exists, own, err := a.client.Exists(ctx, a.p.Path())
	if err == nil && !exists {
		return queue.ErrEvicted
	}
	a.made = own.Ctime
	return err
}
