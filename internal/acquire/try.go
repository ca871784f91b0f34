package acquire

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/lockdelay"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Try is one try to acquire a slot, in one session.
type Try struct {
	// Client is pinned to Session.
	Client *framework.Client
	// Session is the one to acquire in.
	Session *framework.Session
	// AtOnce is set if the acquire must not wait for other contenders.
	AtOnce bool
	// Work is the caller's context. Holds derive from it.
	Work context.Context
	// Seen is recorded for the error.
	Seen *queue.Seen
	// Ask, if it is not nil, records in Seen which contenders are ahead, if these are
	// not the ones ahead in the queue.
	Ask func(ctx context.Context)
	// Verify, if it is not nil, is called when a slot was admitted and before it is
	// granted, with its node, and the czxid of that. An error fails the try.
	Verify func(ctx context.Context, node string, czxid int64) error
	// Slot is the recipe whose slot is tried next; nil if it is that of the acquire.
	Slot *Recipe

	wait    *wait
	endings lockdelay.Endings
}

// InQueue is the taker of recipes whose slot is a node of a queue.
func InQueue(q *queue.Queue) Taker {
	return func(ctx context.Context, t *Try) (*lease.Lease, error) {
		if err := t.CheckFree(ctx, q); err != nil {
			return nil, err
		}
		p, err := t.Await(ctx, q, nil)
		if err != nil {
			return nil, err
		}
		return t.Grant(p)
	}
}

// CheckFree finds out with one read that no slot is free, for a try that must not wait.
// For others it does nothing.
func (t *Try) CheckFree(ctx context.Context, q *queue.Queue) error {
	if !t.AtOnce {
		return nil
	}
	return t.Recheck(ctx, q.Path, func() error { return t.readFree(ctx, q) })
}

// Recheck has a read repeated that found no slot to be free, if the server may still
// show what this client has released in another session.
func (t *Try) Recheck(ctx context.Context, path string, read func() error) error {
	err := read()
	if !errors.Is(err, queue.ErrNotFree) || !kit.Of(t.Client).HasGrantedInFurther() {
		return err
	}
	if err := t.Client.Sync(ctx, path); err != nil {
		return err
	}
	return read()
}

func (t *Try) readFree(ctx context.Context, q *queue.Queue) error {
	children, exists, err := znode.Children(ctx, t.Client, q.Path)
	if err != nil {
		return err
	}
	kit.Of(t.Client).RecordParent(q.Path, exists)
	if !exists {
		return nil
	}
	if err := recipepath.CheckOthers(ctx, t.Client, q, children, nil); err != nil {
		return err
	}
	policy, err := q.Rule(ctx, t.Client)
	if err != nil {
		return err
	}
	contenders := q.Among(children)
	if len(policy(q.Newcomer(), queue.Before(contenders))) > 0 {
		t.Seen.Record(q.Path, contenders)
		return queue.ErrNotFree
	}
	return nil
}

// Await joins the queue, and waits until the position is admitted: see
// Position.AwaitAdmitted. On failure no node remains, or it is being deleted.
func (t *Try) Await(ctx context.Context, q *queue.Queue, also *queue.Dependency) (*queue.Position, error) {
	p, err := t.Join(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := t.AwaitPosition(ctx, p, also); err != nil {
		t.GiveUp(p)
		if errors.Is(err, queue.ErrSteppedBack) && p.RevocationRequested() {
			t.wait.revoked = true
		}
		return nil, err
	}
	return p, nil
}

// Join joins the queue.
func (t *Try) Join(ctx context.Context, q *queue.Queue) (*queue.Position, error) {
	return t.join(ctx, q, t.Seen)
}

func (t *Try) join(ctx context.Context, q *queue.Queue, seen *queue.Seen) (*queue.Position, error) {
	if err := lockdelay.Store(ctx, t.Client, q); err != nil {
		return nil, err
	}
	p := q.Position(t.Client, seen)
	if err := p.Join(ctx); err != nil {
		return nil, err
	}
	recipepath.WarnIfOpen(t.Client, t.slot().ProtectedNodes)
	if q.LockDelay > 0 {
		recipepath.WarnIfOpen(t.Client, recipepath.QueueNodes(q.Node(znode.LockDelayDir)))
	}
	return p, nil
}

// slot returns the recipe whose slot the try is for.
func (t *Try) slot() *Recipe { return cmp.Or(t.Slot, t.wait.recipe) }

// AwaitPosition waits until a position that has joined a queue is admitted. It does not
// leave the queue. If ctx ends it can be called again.
func (t *Try) AwaitPosition(ctx context.Context, p *queue.Position, also *queue.Dependency) error {
	err := t.awaitFront(ctx, p)
	if err == nil {
		err = awaitAdmitted(ctx, p, also, t.AtOnce, &t.endings)
	}
	return err
}

// JoinFree joins a queue beside the one that the try waits in, and returns a position
// that is admitted; if it has to wait it leaves, and returns queue.ErrNotFree.
func (t *Try) JoinFree(ctx context.Context, q *queue.Queue) (*queue.Position, error) {
	p, err := t.join(ctx, q, &queue.Seen{Measured: t.Seen.Measured})
	if err != nil {
		return nil, err
	}
	why := t.endings.Closed // at the queue where the try waits
	err = awaitAdmitted(ctx, p, nil, true, &t.endings)
	if !t.AtOnce {
		t.endings.Closed = why
	}
	if err != nil {
		p.Leave(ctx)
		return nil, err
	}
	return p, nil
}

// awaitAdmitted waits until a position that has joined a queue is admitted: see
// Position.AwaitAdmitted. With a lock-delay it is then recorded; without endings such a
// position is taken for one that is not free.
func awaitAdmitted(ctx context.Context, p *queue.Position, also *queue.Dependency, atOnce bool, endings *lockdelay.Endings) error {
	others, err := p.Listed(ctx)
	if err == nil {
		err = recipepath.CheckOthers(ctx, p.Client(), p.Queue(), others, p)
	}
	switch {
	case err != nil:
		return err
	case !lockdelay.Applies(p, others):
		return p.AwaitAdmitted(ctx, also, atOnce)
	case endings == nil:
		return queue.ErrNotFree
	}
	return endings.Await(ctx, p, also, atOnce)
}

// awaitFront waits until it matters what is ahead of the position. A try that must not
// wait finds out at once that there is something.
func (t *Try) awaitFront(ctx context.Context, p *queue.Position) error {
	if t.AtOnce {
		return nil
	}
	return p.AwaitFront(ctx)
}

// askLimit bounds the reads for the error, which delay an answer that is late already.
const askLimit = 50 * time.Millisecond

// GiveUp leaves a position. If the time is up it first reads for the error which
// contender is the head.
func (t *Try) GiveUp(p *queue.Position) {
	t.askHead()
	p.Leave(t.wait.ctx)
}

// askHead reads the data of the head, for the error.
func (t *Try) askHead() {
	if t.AtOnce || !t.wait.timedOut() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.wait.ctx), askLimit)
	defer cancel()
	if t.Ask != nil {
		t.Ask(ctx)
	}
	if t.Seen.Head == "" || t.Seen.Holder != nil {
		return
	}
	if data, _, err := t.Client.Get(ctx, t.Seen.Dir+"/"+t.Seen.Head); err == nil {
		t.Seen.OnData(data)
	}
}

// Grant starts the hold of a position that is admitted.
func (t *Try) Grant(p *queue.Position) (*lease.Lease, error) {
	defer p.End()
	grant := hold.Grant{
		Path: p.Path(), Token: lease.Token(p.Created()), Permits: p.Name().Weight, HandsOver: p.HandsOver(), Made: p.Made(), Recorded: p.Record() != "",
	}
	if err := t.Rely(&grant); err != nil {
		p.Unrecord()
		return nil, err
	}
	var err error
	if grant.Watch, err = p.DetachWatch(); err != nil {
		grant.Reliance.End()
		p.Unrecord()
		return nil, err
	}
	grant.Token, grant.RevocationRequested = lease.Token(p.Token()), p.RevocationRequested() || t.wait.revoked
	return t.Start(t.Work, grant), nil
}

// Start starts the hold of a grant that Rely has completed, with a context that derives
// from Work. The acquire has then succeeded.
func (t *Try) Start(ctx context.Context, g hold.Grant) *lease.Lease {
	if o := observing(t.Work); o != nil {
		o.end(nil)
	}
	return hold.Start(ctx, g)
}

// Rely completes a grant of nodes that exist, and has a quorum vouch for them. It fails
// when the session is over, or the context has ended, although the slot is free. Then
// it deletes the nodes.
func (t *Try) Rely(g *hold.Grant) (err error) {
	r, ctx := t.slot(), t.wait.ctx
	g.Client, g.Session, g.Key, g.Of, g.Terms = t.Client, t.Session, r.Key(), r.Of, &r.Terms
	if t.AtOnce { // the slot is free; after a break in an idle session this takes a third of the timeout
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(observing(t.Work).forRequests(t.Work), t.Session.Timeout()/2, errWaitOver)
		defer cancel()
	}
	began := time.Now()
	if t.Verify != nil {
		err = t.Verify(t.wait.ctx, g.Path, int64(g.Token)) // reads, as a rule, which take no longer than others
	}
	if err == nil {
		g.Reliance, err = kit.Of(t.Client).Rely(ctx, g.Path, g.Also...)
	}
	if err == nil && time.Since(began) > hold.LookDelay {
		// It has taken so long that a deletion of a node that nothing watches yet is
		// old.
		if err = stand(ctx, t.Client, append([]string{g.Path}, g.Also...)...); err != nil {
			g.Reliance.End()
		}
	}
	if err != nil {
		queue.Leave(ctx, t.Client, g.Path, g.Also...)
	}
	if errors.Is(err, framework.ErrNoNode) {
		return queue.ErrEvicted
	}
	return err
}

// stand returns an ErrNoNode unless all these nodes exist.
func stand(ctx context.Context, c *framework.Client, nodes ...string) error {
	var exist []framework.Op
	for _, node := range nodes {
		exist = append(exist, kit.Of(c).CheckExists(node, nil))
	}
	_, err := c.Multi(ctx, exist...)
	return err
}
