package inspect

import (
	"context"
	"errors"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// headsRead is how many nodes of one queue are read at most, until one exists. Where
// the lock is handed over all the time, the head has left again when it is read.
const headsRead = 8

// head reads the head of a place. There is no queue if all contenders have left.
func (w *walk) head(ctx context.Context, p *place) (l LockInUse, err error) {
	l = LockInUse{Path: p.path, Recipe: p.recipe}
	if p.recipe == Semaphore {
		if err := p.readSize(ctx, w.client); err != nil && !w.denied.skips(p.path, err) {
			return l, err
		}
		l.Size = int(p.size)
	}
	for read := 1; ; read++ {
		if len(p.held)+len(p.names) == 0 {
			return l, nil
		}
		p.count(&l)
		gone, err := w.readHead(ctx, p, &l)
		if err != nil {
			return l, err
		}
		if !gone || read == headsRead {
			break
		}
		p.dropHead()
	}
	l.Queues = 1
	err = w.readWaiting(ctx, p, &l)
	return l, err
}

// count counts those that hold, and those that wait.
func (p *place) count(l *LockInUse) {
	n, state := p.holding()
	others := len(p.names) - n
	l.Holding, l.Waiting, l.Unknown = len(p.held)+n, others, 0
	if state == Unknown {
		l.Waiting, l.Unknown = 0, others
	}
}

// fitting returns how many nodes of a single queue hold permits: those that fit into
// the size together with all ahead.
func fitting(names []znode.Name, size int64) int {
	i := slices.IndexFunc(names, func(name znode.Name) bool {
		size -= int64(name.Weight)
		return size < 0
	})
	if i < 0 {
		return len(names)
	}
	return i
}

// firstNode returns the first node of a place, and its path.
func (p *place) firstNode() (name znode.Name, path string) {
	switch {
	case len(p.held) > 0:
		return p.held[0], p.path + "/" + znode.PermitsDir + "/" + p.held[0].Node
	default:
		return p.names[0], p.waitingPath(0)
	}
}

func (p *place) waitingPath(i int) string {
	if p.inTwoQueues() {
		return p.path + "/" + znode.QueueDir + "/" + p.names[i].Node
	}
	return join(p.path, p.names[i].Node)
}

// dropHead leaves out the first node, which has left.
func (p *place) dropHead() {
	if len(p.held) > 0 {
		p.held = p.held[1:]
		return
	}
	p.names = p.names[1:]
}

// readHead reads the first node, unless that is gone.
func (w *walk) readHead(ctx context.Context, p *place, l *LockInUse) (gone bool, err error) {
	name, path := p.firstNode()
	l.Head = Contender{Contender: lease.Contender{Kind: p.kindOf(name), Node: name.Node, Path: path}, State: Waiting}
	switch {
	case l.Holding > 0:
		l.Head.State, l.Head.Holding = Held, true
	case l.Unknown > 0:
		l.Head.State = Unknown
	}
	data, stat, err := w.client.Get(ctx, path)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return true, nil
	case w.denied.skips(path, err):
		return false, nil
	case err != nil:
		return false, err
	}
	kind, holding := l.Head.Kind, l.Head.Holding
	l.Head.Contender = queue.Describe(path, name, data, stat)
	l.Head.Kind, l.Head.Holding = kind, holding
	switch {
	case !p.inTwoQueues():
		return false, w.readGranted(ctx, p, l)
	case holding:
		l.Granted = stat.Ctime
	default: // the token is that of a permit
		l.Head.Token = 0
	}
	return false, nil
}

// kindOf returns what a node contends for. The queue of a semaphore of two queues is
// that of a mutex.
func (p *place) kindOf(name znode.Name) string {
	if p.recipe == Semaphore {
		return lease.KindSemaphore
	}
	return queue.KindOf(name)
}

// readGranted reads when the head was granted what it holds, if a lock-delay has
// recorded that.
func (w *walk) readGranted(ctx context.Context, p *place, l *LockInUse) error {
	if _, found := slices.BinarySearch(w.records[p.path], l.Head.Node); !found || l.Head.State != Held {
		return nil
	}
	record := znode.HolderRecord(l.Head.Path)
	exists, stat, err := w.client.Exists(ctx, record)
	if exists && stat.EphemeralOwner == 0 { // else it is a contender of another lock
		l.Granted = stat.Ctime
	}
	if w.denied.skips(record, err) {
		return nil
	}
	return err
}

// readWaiting reads since when the first of those that wait has waited.
func (w *walk) readWaiting(ctx context.Context, p *place, l *LockInUse) error {
	if l.Waiting == 0 {
		return nil
	}
	first := len(p.names) - l.Waiting
	if first == 0 && len(p.held) == 0 { // it is the head
		l.WaitingSince = l.Head.Enqueued
		return nil
	}
	exists, stat, err := w.client.Exists(ctx, p.waitingPath(first))
	if exists {
		l.WaitingSince = stat.Ctime
	}
	if w.denied.skips(p.waitingPath(first), err) {
		return nil
	}
	return err
}

// readStripes reads how many stripes a path has.
func (w *walk) readStripes(ctx context.Context, l *LockInUse) error {
	if l.Recipe != Stripe {
		return nil
	}
	data, _, err := w.client.Get(ctx, l.Path)
	if errors.Is(err, framework.ErrNoNode) || w.denied.skips(l.Path, err) {
		return nil
	}
	l.Size, _ = znode.ParseStripes(data)
	l.Size = max(l.Size, 0)
	return err
}
