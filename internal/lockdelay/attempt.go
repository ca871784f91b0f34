package lockdelay

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An attempt is that of one position to be recorded as a holder.
type attempt struct {
	*Endings
	p      *queue.Position
	client *framework.Client
	delay  time.Duration
	dir    string    // of the records
	made   time.Time // the position's node, by the clock of a server; zero until it is needed

	until time.Time        // when a closed slot has to be looked at again
	watch *framework.Watch // on the records
}

func newAttempt(e *Endings, p *queue.Position) *attempt {
	q := p.Queue()
	return &attempt{Endings: e, p: p, client: p.Client(), delay: q.LockDelay, dir: q.Node(znode.LockDelayDir)}
}

// record records a position that is admitted, unless an unclean end still keeps it out,
// which is then in Closed. It returns false as well if it has to be called again.
func (a *attempt) record(ctx context.Context, watches bool) (recorded bool, err error) {
	a.Closed, a.watch = nil, nil
	names, stat, err := a.list(ctx, watches)
	switch {
	case errors.Is(err, framework.ErrNoNode), err == nil && stat.Czxid > a.p.Created():
		return false, queue.ErrEvicted // a contender without a delay may stand ahead of this one, or behind
	case err != nil:
		return false, err
	case slices.Contains(names, path.Base(a.p.Path())): // by an attempt that was not answered
		return true, nil
	}
	over, closed, err := a.sort(ctx, a.ended(names))
	if err != nil || len(closed) > 0 && !a.p.IsAdmittedBehind(closed) {
		return false, err
	}
	a.Closed = nil
	return a.write(ctx, over)
}

func (a *attempt) list(ctx context.Context, watches bool) (names []string, stat framework.Stat, err error) {
	if watches {
		names, stat, a.watch, err = a.client.ChildrenWatch(ctx, a.dir)
		return names, stat, err
	}
	return a.client.Children(ctx, a.dir)
}

// ended returns the holders that have ended without a release, in order: all whose
// nodes are not in the queue. The node of a holder that conflicts is ahead, as long as
// it exists.
func (a *attempt) ended(names []string) (ended []znode.Name) {
	ahead := map[string]bool{}
	if len(names) > 0 {
		for _, name := range a.p.Ahead() {
			ahead[name.Node] = true
		}
	}
	for _, node := range names {
		if ahead[node] {
			continue
		}
		name, ok := znode.Parse(node, a.p.Queue().Kinds...)
		if !ok { // of another recipe
			name.Node = node
		}
		ended = append(ended, name)
	}
	slices.SortFunc(ended, znode.Compare)
	return ended
}

// maxLooks is how many records an attempt reads. For any others the own clock counts.
const maxLooks = 16

// sort separates the ends after which the delay has passed from the others, which are
// in Closed and until.
func (a *attempt) sort(ctx context.Context, ended []znode.Name) (over []string, closed []znode.Name, err error) {
	if len(ended) == 0 {
		return nil, nil, nil
	}
	records, err := a.read(ctx, ended)
	if err != nil {
		return nil, nil, err
	}
	for i, name := range ended {
		record := a.dir + "/" + name.Node
		switch seen := a.see(record); {
		case time.Since(seen) >= a.delay, i < len(records) && a.isOld(records[i]):
			over = append(over, record)
		default:
			if until := seen.Add(a.delay); len(closed) == 0 || until.Before(a.until) {
				a.until = until
			}
			closed = append(closed, name)
		}
	}
	if len(closed) > 0 {
		a.Closed = fmt.Errorf("%w of %v: node %s has ended without a release", lease.ErrLockDelay, a.delay, quote.Brief(closed[0].Node))
	}
	return over, closed, nil
}

// see returns when an end was first seen.
func (a *attempt) see(record string) time.Time {
	seen, ok := a.seen[record]
	if !ok {
		if a.seen == nil {
			a.seen = map[string]time.Time{}
		}
		seen = time.Now()
		a.seen[record] = seen
	}
	return seen
}

// isOld reports whether an end was marked long before the position's node was made.
func (a *attempt) isOld(record framework.Stat) bool {
	return record.Version > 0 && a.made.Sub(record.Mtime) >= 2*a.delay
}

// read reads the oldest records, and marks those that are not marked yet. The Stat of
// one that is gone, or could not be marked, is as if it were not marked.
func (a *attempt) read(ctx context.Context, ended []znode.Name) ([]framework.Stat, error) {
	if a.made.IsZero() {
		exists, own, err := a.client.Exists(ctx, a.p.Path())
		switch {
		case err != nil:
			return nil, err
		case !exists:
			return nil, queue.ErrEvicted
		}
		a.made = own.Ctime
	}
	stats := make([]framework.Stat, min(len(ended), maxLooks))
	var reads sync.WaitGroup
	for i := range stats {
		record := a.dir + "/" + ended[i].Node
		reads.Go(func() {
			data, stat, err := a.client.Get(ctx, record)
			if err == nil && stat.Version == 0 {
				_, _ = a.client.Set(ctx, record, data, 0) // its time counts, for later newcomers
			}
			stats[i] = stat
		})
	}
	reads.Wait()
	return stats, nil
}

// maxRemoved is how many records an attempt removes.
const maxRemoved = 64

// write records the position, and removes the records of ends after which the delay has
// passed. It returns false if it has to be called again.
func (a *attempt) write(ctx context.Context, over []string) (recorded bool, err error) {
	record := znode.HolderRecord(a.p.Path())
	ops := []framework.Op{
		kit.Of(a.client).CheckExists(a.p.Path(), nil),
		framework.CreateOp(record, a.p.Queue().Data(), framework.Persistent),
	}
	for _, record := range over[:min(len(over), maxRemoved)] {
		ops = append(ops, framework.DeleteOp(record, framework.AnyVersion))
	}
	a.p.IsRecorded(record)
	_, err = a.client.Multi(ctx, ops...)
	refused := (*framework.MultiError)(nil)
	switch {
	case err == nil, errors.Is(err, framework.ErrNodeExists): // made by an attempt that was not answered
		return true, nil
	case framework.OutcomeOf(err) == framework.Unknown:
		return false, nil
	case errors.Is(err, framework.ErrNoNode) && errors.As(err, &refused) && refused.Index >= 2: // somebody else has removed it
		return false, nil
	case errors.Is(err, framework.ErrNoNode): // the own node, or that of the delay
		return false, queue.ErrEvicted
	}
	return false, err
}

// Record records the holder of a node that needs no admission.
func Record(ctx context.Context, p *queue.Position) error {
	if p.Queue().LockDelay == 0 {
		return nil
	}
	for a := newAttempt(new(Endings), p); ; {
		if recorded, err := a.write(ctx, nil); recorded || err != nil {
			return err
		}
	}
}
