package queue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Contenders lists the queue from its head, as seen by a server that has caught up with
// the leader. Nodes that are deleted meanwhile are left out.
func (q *Queue) Contenders(ctx context.Context) (found []lease.Contender, err error) {
	defer q.explain("list contenders", &err)
	names, err := q.namesNow(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return []lease.Contender{}, nil
	}
	policy, err := q.Rule(ctx, q.Client)
	if err != nil {
		return nil, err
	}
	all, err := q.readAll(ctx, names)
	if err != nil {
		return nil, err
	}
	found = make([]lease.Contender, 0, len(names))
	for i, name := range names {
		if all[i] == nil {
			continue
		}
		ahead := names[:i]
		if i > 0 && names[i-1].Sequence == name.Sequence {
			ahead = slices.DeleteFunc(slices.Clone(ahead), name.SharesPosition)
		}
		c := all[i].Contender
		c.Holding = len(policy(name, Before(ahead))) == 0
		found = append(found, c)
	}
	return found, nil
}

// An Entry is a contender, with what its node says.
type Entry struct {
	lease.Contender
	// Data are those of its node.
	Data []byte
	// Version is that of the data.
	Version int32
}

// Entries is Contenders with the data of each; the rule is not asked, so none is
// Holding.
func (q *Queue) Entries(ctx context.Context) ([]*Entry, error) {
	names, err := q.namesNow(ctx)
	if err != nil {
		return nil, err
	}
	all, err := q.readAll(ctx, names)
	return slices.DeleteFunc(all, func(e *Entry) bool { return e == nil }), err
}

// namesNow lists the contenders as seen by a server that has caught up with the leader.
func (q *Queue) namesNow(ctx context.Context) ([]znode.Name, error) {
	if err := q.CatchUp(ctx); err != nil {
		return nil, err
	}
	return q.Names(ctx, q.Client)
}

// sideBySide is how many nodes are read at once. A server answers the requests of a
// session one after another, so other requests of the session wait for at most that
// many answers. Fewer would be slow for a long queue and a distant server: 1,000 nodes
// at 20 ms take 1.3 s so.
const sideBySide = 16

// readAll reads nodes; those that were deleted are nil. If one cannot be read that is
// the error, and no further one is read.
func (q *Queue) readAll(ctx context.Context, names []znode.Name) ([]*Entry, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := make([]*Entry, len(names))
	failed := make(chan error, sideBySide)
	var next atomic.Int64
	read := func() {
		for i := next.Add(1) - 1; i < int64(len(names)); i = next.Add(1) - 1 {
			switch data, stat, err := q.Client.Get(ctx, q.Node(names[i].Node)); {
			case err == nil:
				all[i] = &Entry{Describe(q.Node(names[i].Node), names[i], data, stat), data, stat.Version}
			case !errors.Is(err, framework.ErrNoNode):
				failed <- err
				cancel()
				return
			}
		}
	}
	var readers sync.WaitGroup
	for range min(sideBySide, len(names)) {
		readers.Go(read)
	}
	readers.Wait()
	close(failed)
	return all, <-failed // the first, if there is one; it cancelled the others
}

// kinds says what the nodes of a kind contend for.
var kinds = map[string]string{
	znode.Mutex: lease.KindMutex, znode.Reader: lease.KindReader, znode.Writer: lease.KindWriter, znode.Latch: lease.KindLeader,
	znode.Permit: lease.KindSemaphore, znode.Permits: lease.KindSemaphore,
}

// KindOf says what a node contends for: lease.KindMutex and so on, "" if it is not
// known.
func KindOf(name znode.Name) string { return kinds[name.Kind] }

// Describe returns the contender of a node, with what that says. It is not Holding.
func Describe(path string, name znode.Name, data []byte, stat framework.Stat) lease.Contender {
	c := lease.Contender{
		Kind: KindOf(name), Node: name.Node, Path: path, Token: lease.Token(stat.Czxid), Session: stat.EphemeralOwner,
		Holder: HolderOf(name.Node, data), Enqueued: stat.Ctime,
	}
	if name.Kind != znode.Latch {
		c.Holds, c.Within, c.GivesUp = ParseOwned(data)
	}
	return c
}
