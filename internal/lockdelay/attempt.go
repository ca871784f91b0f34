package lockdelay

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// An attempt is that of one position to be recorded as a holder.
type attempt struct {
	*Endings
	p      *queue.Position
	client *framework.Client
	dir    string        // of the records
	delay  time.Duration // that is stored there
	made   time.Time     // the position's node, by the clock of a server; zero until it is needed

	names []string         // of the records, when the slot was found closed
	until time.Time        // when a closed slot has to be looked at again
	watch *framework.Watch // on the records
}

func newAttempt(e *Endings, p *queue.Position) *attempt {
	return &attempt{Endings: e, p: p, client: p.Client(), dir: p.Queue().Node(znode.LockDelayDir)}
}

// A result is what has become of an attempt.
type result int

const (
	again    result = iota // everything has to be looked at again
	recorded               // or there is no delay any more
	closed                 // an unclean end keeps the position out, which is in Closed
)

// record records a position that is admitted, unless an unclean end keeps it out.
func (a *attempt) record(ctx context.Context, watches bool) (result, error) {
	if stored, err := a.readDelay(ctx); err != nil || !stored {
		return recorded, err
	}
	names, err := a.list(ctx, watches)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return again, nil
	case err != nil:
		return again, err
	case slices.Contains(names, path.Base(a.p.Path())): // by an attempt that was not answered
		return recorded, nil
	}
	over, count, err := a.sort(ctx, a.mayHaveEnded(names))
	if err != nil {
		return again, err
	}
	if len(count) > 0 {
		if err := a.dropReleased(ctx, names); err != nil {
			return again, err
		}
		if !a.p.IsAdmittedBehind(count) {
			a.close(count)
			return closed, nil
		}
	}
	a.Closed = nil
	if done, err := a.write(ctx, over); err != nil || !done {
		return again, err
	}
	if stored, err := a.readDelay(ctx); err != nil || !stored { // others do not see the record
		return again, err
	}
	return recorded, nil
}

// readDelay reads the delay, which the session knows as a rule. The node that stores it
// must be older than the position's own: see the package. stored is false if there is
// no delay, and the position's queue has none.
func (a *attempt) readDelay(ctx context.Context) (stored bool, err error) {
	data, stat, err := kit.Of(a.client).GetKnown(ctx, a.dir)
	switch {
	case errors.Is(err, framework.ErrNoNode) && a.p.Queue().LockDelay == 0:
		return false, nil
	case errors.Is(err, framework.ErrNoNode), err == nil && stat.Czxid > a.p.Created():
		return false, queue.ErrEvicted
	case err == nil:
		a.delay, err = compare(a.p.Queue(), data)
	}
	return a.delay > 0, err
}

func (a *attempt) list(ctx context.Context, watches bool) (names []string, err error) {
	if watches {
		names, _, a.watch, err = a.client.ChildrenWatch(ctx, a.dir)
	} else {
		names, _, err = a.client.Children(ctx, a.dir)
	}
	return names, err
}

// mayHaveEnded returns the holders that may have ended without a release, and may keep
// the position out, in order. Those ahead of it count for the queue. Those behind it
// were admitted although it was ahead of them.
func (a *attempt) mayHaveEnded(names []string) (some []znode.Name) {
	ahead := map[string]bool{}
	if len(names) > 0 {
		for _, name := range a.p.Ahead() {
			ahead[name.Node] = true
		}
	}
	for _, node := range names {
		name, ok := znode.Parse(node, a.p.Queue().Kinds...)
		if !ok { // of another recipe
			name.Node = node
		}
		if !ahead[node] && name.Before(a.p.Name()) {
			some = append(some, name)
		}
	}
	slices.SortFunc(some, znode.Compare)
	return some
}

// sort separates the records of ends after which the delay has passed from the ends
// that still count.
func (a *attempt) sort(ctx context.Context, holders []znode.Name) (over []string, count []znode.Name, err error) {
	if err := a.look(ctx, holders); err != nil {
		return nil, nil, err
	}
	now := time.Now()
	for _, name := range holders {
		record := a.dir + "/" + name.Node
		switch end := a.seen[record]; {
		case end == nil: // it lives
		case end.isOld || now.Sub(end.seen) >= a.delay:
			over = append(over, record)
		default:
			count = append(count, name)
		}
	}
	return over, count, nil
}

// close says that the slot is closed, and until when at least.
func (a *attempt) close(count []znode.Name) {
	ends := make([]*ending, len(count))
	for i, name := range count {
		ends[i] = a.seen[a.dir+"/"+name.Node]
	}
	first := slices.MinFunc(ends, func(a, b *ending) int { return a.seen.Compare(b.seen) })
	a.until = first.seen.Add(a.delay)
	a.Closed = &ClosedError{Delay: a.delay, Node: path.Base(ends[0].node), Holder: ends[0].holder}
}

// write records the position, and removes the records of ends after which the delay has
// passed. It returns false if it has to be called again.
func (a *attempt) write(ctx context.Context, over []string) (recorded bool, err error) {
	stands := kit.Of(a.client).CheckExists(a.p.Path(), nil)
	for len(over) > 0 {
		ops := []framework.Op{stands}
		for size := 0; len(over) > 0 && size < maxRemoved; over = over[1:] {
			ops = append(ops, framework.DeleteOp(over[0], framework.AnyVersion))
			size += len(over[0])
		}
		if done, err := a.transact(ctx, ops); !done {
			return false, err
		}
	}
	record := znode.HolderRecord(a.p.Path())
	a.p.IsRecorded(record)
	return a.transact(ctx, []framework.Op{stands, framework.CreateOp(record, a.p.Queue().Data(ctx), framework.Persistent)})
}

// maxRemoved is how many bytes the paths of the records have that are removed at once.
const maxRemoved = 4 << 10

// transact carries out a transaction that begins with a check of the own node. It
// returns false if everything has to be looked at again.
func (a *attempt) transact(ctx context.Context, ops []framework.Op) (done bool, err error) {
	_, err = a.client.Multi(ctx, ops...)
	refused := (*framework.MultiError)(nil)
	switch {
	case err == nil, errors.Is(err, framework.ErrNodeExists): // made by an attempt that was not answered
		return true, nil
	case framework.OutcomeOf(err) == framework.Unknown:
		return false, nil
	case errors.Is(err, framework.ErrNoNode) && errors.As(err, &refused):
		if refused.Index == 0 {
			return false, queue.ErrEvicted
		}
		return false, nil // another client has removed a record, or servers have the container
	}
	return false, err
}

// Record records the holder of a node that needs no admission.
func Record(ctx context.Context, p *queue.Position) error {
	for a := newAttempt(new(Endings), p); ; {
		if recorded, err := a.write(ctx, nil); recorded || err != nil {
			return err
		}
		if stored, err := a.readDelay(ctx); !stored {
			return err
		}
	}
}
