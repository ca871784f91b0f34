package framework

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// maxUnconfirmed is how many releases of a session may be unconfirmed at a time. It
// bounds what is sent on a new connection before anything else.
const maxUnconfirmed = 64

// releases are those of a session whose delete was sent, or is about to be, and is not
// known to be carried out. Recipes grant the slots to others of the session already. So
// whatever the session sends later has to come behind the deletes: on a new connection
// they are sent again before the gate opens. Before them the guard sends a transaction
// that checks what is relied on: a leader may refuse the first write of a session that
// moves, and accept the next.
type releases struct {
	mu          sync.Mutex
	unconfirmed []*release // in the order of their first attempts
}

// A release is the delete of a node whose slot is over.
type release struct {
	client  *Client // pinned to session
	session *Session
	path    string        // on the server
	settled signal.Signal // the node is known to be deleted, or the server refuses that

	// Guarded by releases.mu.
	resent  int   // how often it was sent on a new connection
	telling bool  // listeners are being told that the slot is over
	refused error // why the server refuses it
}

// Release is DeleteGuaranteed for a node whose slot is over.
func (v recipeView) Release(ctx context.Context, path string) error {
	c := v.Client
	if c.pinned == nil {
		c = c.In(c.Session())
	}
	return c.deleteGuaranteed(ctx, c.releaseRequest(path))
}

// releaseRequest is a delete that is registered as a release, if a listener waits for
// that. The view is pinned to a session.
func (c *Client) releaseRequest(path string) request[struct{}] {
	r := &release{client: c, session: c.pinned, path: c.full(path)}
	if !r.session.deletions.awaits(r.path) {
		return joiningDelete(path)
	}
	return request[struct{}]{op: "delete", path: path, deletes: true, start: r.start}
}

// start is an attempt. The release is unconfirmed before it is sent: a connection that
// is attached later than that sends it again, if the attempt has not failed.
func (r *release) start(_ *Session, path string) (a attempt[struct{}], _ error) {
	a.code, a.record, a.finish = guard.OpDelete, versionRecord(path, AnyVersion), r.finish
	if r.session.releases.add(r) {
		a.placed = r.tell
	}
	return a, nil
}

// finish reads the answer to an attempt. What was sent on a new connection may have
// deleted the node before.
func (r *release) finish(_ guard.Answer, err error) (none struct{}, _ error) {
	r.session.deleteAnswered(r.path, err)
	if errors.Is(err, ErrNoNode) && r.session.releases.wasResent(r) {
		err = nil
	}
	return none, err
}

// tell tells the listeners that the slot is over, now that the delete has its place
// among the requests of a connection. down is given when that breaks.
func (r *release) tell(down *signal.Signal) {
	s := r.session
	if !s.releases.beginTelling(r) {
		return
	}
	s.deletions.over(r.path, down.Done())
	if s.releases.endTelling(r) {
		s.deletions.over(r.path, nil)
	}
}

// deleteAnswered records what the answer to a delete says of the node.
func (s *Session) deleteAnswered(path string, err error) {
	switch {
	case err == nil, errors.Is(err, ErrNoNode):
		if !s.releases.answered(path) {
			s.gone(path)
		}
	case refused(err):
		if s.releases.refuse(path, err) {
			s.deletions.over(path, nil)
		}
	}
}

// add makes a release unconfirmed. It returns false if it is settled already, or if
// there are too many.
func (all *releases) add(r *release) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case r.settled.Given():
		return false
	case slices.Contains(all.unconfirmed, r): // by an earlier attempt
		return true
	case len(all.unconfirmed) == maxUnconfirmed:
		return false
	}
	all.unconfirmed = append(all.unconfirmed, r)
	return true
}

// of returns those of a node. The caller has the lock.
func (all *releases) of(path string) iter.Seq[*release] {
	return func(yield func(*release) bool) {
		for _, r := range all.unconfirmed {
			if r.path == path && !yield(r) {
				return
			}
		}
	}
}

// deleted settles the releases of a node whose deletion is known. The next server may
// not know it, so only an answer takes them out.
func (all *releases) deleted(path string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for r := range all.of(path) {
		r.refused = nil
		r.settled.Give()
	}
}

// answered takes out the releases of a node that a delete has deleted, or not found. It
// reports whether an event has said so before, which listeners need not hear again.
func (all *releases) answered(path string) (known bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for r := range all.of(path) {
		known = r.settled.Given() && r.refused == nil
		r.settled.Give()
	}
	all.unconfirmed = slices.DeleteFunc(all.unconfirmed, func(r *release) bool { return r.path == path })
	return known
}

// refuse settles the releases of a node that the server refuses to delete. It reports
// whether the caller has to tell the listeners: a release that is just telling them
// tells them next, so that they learn of it last.
func (all *releases) refuse(path string, why error) (tell bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for r := range all.of(path) {
		if !r.settled.Given() {
			r.refused = why
			r.settled.Give()
			tell = !r.telling
		}
	}
	return tell
}

func (all *releases) beginTelling(r *release) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	r.telling = !r.settled.Given()
	return r.telling
}

func (all *releases) endTelling(r *release) (refused bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	r.telling = false
	return r.refused != nil
}

func (all *releases) wasResent(r *release) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	return r.resent > 0
}

// resend sends the deletes again over a new connection. The gate calls it under its
// lock, before it lets other requests through.
func (all *releases) resend(conn *guard.Conn) {
	all.mu.Lock()
	var again []*resentDelete
	for _, r := range all.unconfirmed {
		if r.refused == nil {
			r.resent++
			again = append(again, &resentDelete{r, r.resent + 1, r.client.requestBegins()})
		}
	}
	all.mu.Unlock()
	for _, r := range again {
		if !conn.Send(guard.OpDelete, versionRecord(r.path, AnyVersion), r) {
			return
		}
	}
}

// A resentDelete is what is sent for a release on a new connection. It implements
// guard.Request.
type resentDelete struct {
	*release
	number int
	begun  time.Time
}

// Sent does nothing.
func (r *resentDelete) Sent() {}

// Answered gets the answer. If it says nothing, DeleteGuaranteed goes on in the
// background, and so does the next connection.
func (r *resentDelete) Answered(a guard.Answer) {
	outcome, err := outcomeOf(a)
	r.session.deleteAnswered(r.path, err)
	r.session.endIfExpired(err)
	if err != nil {
		err = &OpError{Op: "delete", Path: r.client.local(r.path), Session: r.session.ID(), Outcome: outcome, Err: r.session.explain(err)}
	}
	r.client.requestEnded(context.Background(), Request{Op: "delete", Path: r.client.local(r.path), Session: r.session.ID(), Attempt: r.number, Err: err}, r.begun)
}

// below returns those of children of a node.
func (all *releases) below(parent string) (found []*release) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, r := range all.unconfirmed {
		if parentOf(r.path) == parent {
			found = append(found, r)
		}
	}
	return found
}

// all returns those that are unconfirmed, also the settled ones among them.
func (all *releases) all() []*release {
	all.mu.Lock()
	defer all.mu.Unlock()
	return slices.Clone(all.unconfirmed)
}

// refusal returns why a server refuses to delete the node of a release.
func (all *releases) refusal(r *release) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	return r.refused
}

// AwaitReleased waits until the releases of children of a node are confirmed.
func (v recipeView) AwaitReleased(ctx context.Context, parent string) error {
	s := v.Session()
	for _, r := range s.releases.below(v.full(parent)) {
		if err := r.await(ctx); err != nil {
			return err
		}
		if err := s.releases.refusal(r); err != nil {
			return &OpError{Op: "delete", Path: v.local(r.path), Session: s.ID(), Outcome: Failed, Err: err}
		}
	}
	return nil
}

// await waits until a release is settled. Else it returns why it does not wait any
// more: the end of its session, or of ctx.
func (r *release) await(ctx context.Context) error {
	select {
	case <-r.settled.Done():
		return nil
	case <-r.session.ctx.Done():
		return context.Cause(r.session.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
