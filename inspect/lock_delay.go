package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A LockDelay is the lock-delay that a queue stores, and says why nobody is granted a
// lock that nobody holds: see package lease.
type LockDelay struct {
	// Recipe is Stripe or Run if the queue is that of one. It is "" for the queue of
	// the path itself, whatever recipe has used it.
	Recipe Recipe
	// Stripe is as in a Queue.
	Stripe int
	// Run is as in a Queue.
	Run string
	// Delay is for how long the queue stays closed after an unclean end.
	Delay time.Duration
	// Ended are the holders that have ended without a release, in the order of the
	// queue. Contenders that conflict with one of them are not granted anything until
	// they have waited for the delay, unless they have joined the queue twice the delay
	// after Seen.
	Ended []Ended
}

// An Ended is a holder that has ended without a release, so that nobody knows whether
// its work has ended. It is shown until another one is granted the lock.
type Ended struct {
	// Kind says what it has held: lease.KindMutex and so on, "" if that is not known.
	Kind string
	// Node is the name that its znode had.
	Node string
	// Holder is what it has said about itself.
	Holder lease.Holder
	// Granted is when it was granted the lock, by the server's clock.
	Granted time.Time
	// Seen is when a contender first saw that it has ended, by the server's clock; zero
	// if none has yet.
	Seen time.Time
}

// addLockDelay adds that of the path itself.
func (s *survey) addLockDelay(ctx context.Context) error {
	d, err := listedDelay(ctx, s.client, s.path, s.children)
	s.addDelayOf(Queue{}, d)
	return err
}

// addDelayOf adds a lock-delay, nil for none, as that of a queue.
func (s *survey) addDelayOf(q Queue, d *LockDelay) {
	if d != nil {
		d.Recipe, d.Stripe, d.Run = q.Recipe, q.Stripe, q.Run
		s.LockDelays = append(s.LockDelays, *d)
	}
}

// delayOf returns the lock-delay of the path itself, nil if it stores none.
func (s *survey) delayOf() *LockDelay {
	for i := range s.LockDelays {
		if s.LockDelays[i].Recipe == "" {
			return &s.LockDelays[i]
		}
	}
	return nil
}

// listedDelay is lockDelayAt for the children of a path: only if one has the name of
// the node that stores it. Another program may have one of that name.
func listedDelay(ctx context.Context, client *framework.Client, path string, children []string) (*LockDelay, error) {
	if !slices.Contains(children, znode.LockDelayDir) {
		return nil, nil
	}
	return lockDelayAt(ctx, client, path, children)
}

// lockDelayAt reads the lock-delay that a queue stores, nil if none. The nodes of the
// queue were listed before.
func lockDelayAt(ctx context.Context, client *framework.Client, path string, nodes []string) (*LockDelay, error) {
	dir := path + "/" + znode.LockDelayDir
	data, stat, err := client.Get(ctx, dir)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	delay, ok := znode.ParseLockDelay(data)
	if err != nil || !ok {
		return nil, err
	}
	d := &LockDelay{Delay: delay}
	if stat.NumChildren > 0 {
		d.Ended, err = endedAt(ctx, client, path, nodes)
	}
	return d, err
}

// endedAt returns the holders that have ended without a release. Each is recorded by
// the name of its node until it is released.
func endedAt(ctx context.Context, client *framework.Client, path string, nodes []string) (ended []Ended, err error) {
	records, _, err := znode.Children(ctx, client, path+"/"+znode.LockDelayDir)
	if err != nil {
		return nil, err
	}
	gone := make(map[string]bool, len(records))
	for _, node := range records {
		gone[node] = true
	}
	for _, node := range nodes { // of which there may be very many
		delete(gone, node)
	}
	var names []znode.Name
	for node := range gone {
		name, _ := znode.Parse(node, atThePath...)
		name.Node = node
		names = append(names, name)
	}
	slices.SortFunc(names, znode.Compare)
	found := make([]*Ended, len(names))
	err = atATime(len(names), func(i int) (err error) {
		found[i], err = endedOf(ctx, client, path, names[i])
		return err
	})
	for _, e := range found {
		if e != nil {
			ended = append(ended, *e)
		}
	}
	return ended, err
}

// endedOf returns the holder with that node, nil if the node or no record exists. A
// release deletes both together: a record that is still there when the node is known to
// be gone is that of an unclean end.
func endedOf(ctx context.Context, client *framework.Client, path string, name znode.Name) (*Ended, error) {
	if exists, _, err := client.Exists(ctx, path+"/"+name.Node); exists || err != nil {
		return nil, err
	}
	data, stat, err := client.Get(ctx, znode.HolderRecord(path+"/"+name.Node))
	if errors.Is(err, framework.ErrNoNode) || stat.EphemeralOwner != 0 { // a contender of another lock
		return nil, nil
	}
	e := &Ended{Kind: queue.KindOf(name), Node: name.Node, Holder: queue.HolderOf(name.Node, data), Granted: stat.Ctime}
	if stat.Version > 0 { // who first sees the end sets the record
		e.Seen = stat.Mtime
	}
	return e, err
}
