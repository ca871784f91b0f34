package lockdelay

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"
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
	more  bool             // there are holders that were not looked at
	until time.Time        // when a closed slot has to be looked at again
	watch *framework.Watch // on the records
}

func newAttempt(e *Endings, p *queue.Position) *attempt {
	return &attempt{Endings: e, p: p, client: p.Client(), dir: p.Queue().Node(znode.LockDelayDir)}
}

// record records a position that is admitted, unless an unclean end still keeps it out,
// which is then in Closed. It returns false as well if it has to be called again.
func (a *attempt) record(ctx context.Context, watches bool) (recorded bool, err error) {
	a.Closed, a.watch, a.more, a.until = nil, nil, false, time.Time{}
	if stored, err := a.readDelay(ctx); err != nil || !stored {
		return !stored, err
	}
	names, err := a.list(ctx, watches)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return false, nil
	case err != nil:
		return false, err
	case slices.Contains(names, path.Base(a.p.Path())): // by an attempt that was not answered
		return true, nil
	}
	over, closed, err := a.sort(ctx, a.mayHaveEnded(names))
	if err != nil {
		return false, err
	}
	if len(closed) > 0 {
		if err := a.dropReleased(ctx, names); err != nil || !a.p.IsAdmittedBehind(closed) {
			return false, err
		}
	}
	a.Closed = nil
	if recorded, err := a.write(ctx, over); err != nil || !recorded {
		return false, err
	}
	stored, err := a.readDelay(ctx) // the same as before, or the record is not where others see it
	return stored, err
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
// that still count. If there are such, that is in Closed.
func (a *attempt) sort(ctx context.Context, holders []znode.Name) (over []string, closed []znode.Name, err error) {
	living, err := a.look(ctx, holders)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	for _, name := range holders {
		record := a.dir + "/" + name.Node
		end, known := a.seen[record]
		switch {
		case living[record]:
		case !known:
			closed, a.more = append(closed, name), true
		case end.isOld || now.Sub(end.seen) >= a.delay:
			over = append(over, record)
		default:
			if until := end.seen.Add(a.delay); a.until.IsZero() || until.Before(a.until) {
				a.until = until
			}
			closed = append(closed, name)
		}
	}
	if len(closed) > 0 {
		a.Closed = &ClosedError{Delay: a.delay, Node: closed[0].Node}
		if end := a.seen[a.dir+"/"+closed[0].Node]; end != nil {
			a.Closed.Holder = end.holder
		}
	}
	return over, closed, nil
}

// dropReleased drops those ahead that have released while the slot was closed. The
// position has no event for that: they do not keep it out alone.
func (a *attempt) dropReleased(ctx context.Context, names []string) error {
	var gone []string
	for _, name := range a.p.Ahead() {
		if slices.Contains(a.names, name.Node) && !slices.Contains(names, name.Node) {
			exists, _, err := a.client.Exists(ctx, a.p.Queue().Node(name.Node))
			if err != nil {
				return err
			}
			if !exists {
				gone = append(gone, name.Node)
			}
		}
	}
	a.names = slices.Concat(names, gone)
	a.p.DropAhead(func(name znode.Name) bool { return slices.Contains(gone, name.Node) })
	return nil
}

// maxLooks is how many holders are looked at at once.
const maxLooks = 16

// look looks at the first holders that are not known to have ended. It returns which of
// them live: a writer that has become a reader has made a node ahead of those that
// wait.
func (a *attempt) look(ctx context.Context, holders []znode.Name) (living map[string]bool, err error) {
	var looks []*ending
	for _, name := range holders {
		record := a.dir + "/" + name.Node
		if _, known := a.seen[record]; !known && len(looks) < maxLooks {
			looks = append(looks, &ending{node: a.p.Queue().Node(name.Node), record: record})
		}
	}
	if len(looks) == 0 {
		return nil, nil
	}
	if err := a.readMade(ctx); err != nil {
		return nil, err
	}
	var reads sync.WaitGroup
	for _, e := range looks {
		reads.Go(func() { a.lookAt(ctx, e) })
	}
	reads.Wait()
	living = map[string]bool{}
	for _, e := range looks {
		switch {
		case e.err != nil:
			return nil, e.err
		case e.seen.IsZero():
			living[e.record] = true
		default:
			a.see(e)
		}
	}
	return living, nil
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
	return a.transact(ctx, []framework.Op{stands, framework.CreateOp(record, a.p.Queue().Data(), framework.Persistent)})
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
