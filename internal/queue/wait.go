package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A wait is one call of Acquire: any number of places in line, one at a time,
// until one is admitted or the caller's patience ends.
type wait struct {
	queue  *Queue
	work   context.Context // the caller's, for the life of the work
	ctx    context.Context // derived from it, bounded by the timeout
	start  time.Time
	atOnce bool  // do not wait for others
	door   Door  // to be passed by the first in line; nil if being first is all
	over   bool  // there is no session to wait in, and will be none
	failed error // what cost a place in line last

	// For the error.
	ahead  int
	head   string // node
	headIn string // and its parent
	holder lease.Holder
}

// run takes places in line until one is admitted.
func (w *wait) run() (*lease.Lease, error) {
	for {
		handle, err := w.tryPlace()
		switch {
		case err == nil:
			return handle, nil
		case w.ctx.Err() != nil, w.over, errors.Is(err, framework.ErrClosed), errors.Is(err, ErrNotFree):
			return nil, w.explain(err)
		case errors.Is(err, framework.ErrSessionLost), errors.Is(err, ErrEvicted):
			w.failed = err // the place is gone; the time is not
		default:
			return nil, w.explain(err)
		}
	}
}

// tryPlace goes through one place in line, in one session.
func (w *wait) tryPlace() (*lease.Lease, error) {
	session, err := w.session()
	if err != nil {
		w.over = true // also for a view of the client that is pinned to a session
		return nil, err
	}
	client := w.queue.cfg.Client.In(session)
	if w.atOnce {
		if err := w.lookFirst(client); err != nil {
			return nil, err
		}
	}
	p := &place{wait: w, queue: w.queue, client: client, session: session}
	defer p.forget()
	if err := p.join(w.ctx); err != nil {
		return nil, err
	}
	if err := p.await(w.ctx); err != nil {
		w.askHead(client, w.ahead)
		p.leave()
		return nil, err
	}
	grant := hold.Grant{
		Client: client, Session: session, Key: w.queue.Key(),
		Path: p.path, Token: lease.Token(p.token), MaxHold: w.queue.cfg.MaxHold,
	}
	if w.door != nil {
		if err := w.pass(p, &grant); err != nil {
			w.askHead(client, 0)
			p.leave()
			return nil, err
		}
	}
	if err := w.rely(&grant); err != nil {
		leave(client, session, append(grant.Also, grant.Path)...)
		return nil, err
	}
	if w.door == nil {
		grant.Watch, grant.Unwatch = p.handOver()
		grant.Asked = p.asked
	}
	return hold.Start(w.work, grant), nil
}

// rely makes a quorum vouch for a place that is about to be granted. It fails when the
// session is over, or ctx has ended: that wins over a place that is free, too.
func (w *wait) rely(g *hold.Grant) (err error) {
	ctx := w.ctx
	if w.atOnce { // the place is free; after a break in an idle session this takes a third of the timeout
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(w.work, g.Session.Timeout()/2, errWaitOver)
		defer cancel()
	}
	g.Reliance, err = g.Client.Rely(ctx, append(g.Also, g.Path)...)
	if errors.Is(err, framework.ErrNoNode) {
		return ErrEvicted
	}
	return err
}

// session returns the session to wait in. An acquire that does not wait for
// others does not wait for a connection either.
func (w *wait) session() (*framework.Session, error) {
	client := w.queue.cfg.Client
	if w.atOnce {
		if err := client.Reachable(); errors.Is(err, framework.ErrNotConnected) {
			return nil, fmt.Errorf("%w: %w", ErrNotFree, err)
		}
	}
	return client.AwaitSession(w.ctx)
}

// lookFirst finds out with one read that a place is not free.
func (w *wait) lookFirst(client *framework.Client) error {
	if w.door != nil {
		inTheWay, err := w.door.Free(w.ctx, client)
		if errors.Is(err, ErrNotFree) {
			w.note(w.door.Dir(), inTheWay)
		}
		if err != nil {
			return err
		}
	}
	children, _, err := client.Children(w.ctx, w.queue.cfg.Path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := w.queue.alone(w.ctx, client, children, nil); err != nil {
		return err
	}
	contenders := w.queue.contenders(children)
	newcomer, _ := znode.Parse(w.queue.cfg.Kind+"0000000000", w.queue.cfg.Kinds...)
	size := 0
	if w.queue.cfg.Size != nil {
		if size, _, err = w.queue.cfg.Size(w.ctx, client, Peek); err != nil {
			return err
		}
	}
	if len(w.queue.cfg.Policy(newcomer, contenders, size)) > 0 {
		w.note(w.queue.cfg.Path, contenders)
		return ErrNotFree
	}
	return nil
}

// withoutListing decides what becomes of a place that there is no listing for. If it is to
// be given up that is the error.
func (w *wait) withoutListing(why error) error {
	if errors.Is(why, framework.ErrReplyTooLarge) {
		return why // again
	}
	// The next step meets it again, unless the time is up.
	if request := w.failedRequest(why); request != nil {
		w.failed = request
	}
	return nil
}

// note remembers who is ahead, and in which parent, for the error.
func (w *wait) note(in string, ahead []znode.Name) {
	w.ahead = len(ahead)
	if len(ahead) > 0 && ahead[0].Node != w.head {
		w.headIn, w.head, w.holder = in, ahead[0].Node, lease.Holder{}
	}
}

// askPatience bounds the question who is in the way, which delays an answer that
// is late already.
const askPatience = 50 * time.Millisecond

// askHead reads what the first in line says about itself, for the error. Where
// there is a door it is those inside who are in the way, and then those in line.
func (w *wait) askHead(client *framework.Client, inLine int) {
	if w.atOnce || !w.timedOut() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), askPatience)
	defer cancel()
	if w.door != nil {
		if inside, err := w.door.Inside(ctx, client); err == nil {
			w.note(w.door.Dir(), inside)
			w.ahead += max(inLine, 0)
		}
	}
	if w.head == "" || w.holder != (lease.Holder{}) {
		return
	}
	if data, _, err := client.Get(ctx, w.headIn+"/"+w.head); err == nil {
		w.holder = w.queue.parseHolder(data)
	}
}

// timedOut reports whether the time for the wait is over: that of the timeout, or that of
// the caller's context.
func (w *wait) timedOut() bool {
	return errors.Is(w.ctx.Err(), context.DeadlineExceeded) && !errors.Is(w.work.Err(), context.Canceled)
}

// explain turns the end of a failed wait into the error for the caller.
func (w *wait) explain(err error) error {
	switch {
	case errors.Is(err, framework.ErrClosed):
	case w.timedOut() || errors.Is(err, ErrNotFree):
		return w.timeoutError(err)
	case w.work.Err() != nil:
		err = context.Cause(w.work)
	}
	return fmt.Errorf("acquire %s: %w", w.queue.title(), err)
}

func (w *wait) timeoutError(err error) error {
	timeout := &lease.TimeoutError{
		Path: w.queue.root(), Waited: time.Since(w.start), Ahead: w.ahead, Node: w.head, Holder: w.holder,
		Err: w.lastFailure(err), Cause: context.Cause(w.work),
	}
	if now := w.queue.cfg.Client.Reachable(); errors.Is(now, framework.ErrNotConnected) && !errors.Is(err, framework.ErrNotConnected) {
		timeout.Err = now // it was waited for an event, which nobody could tell any more
	}
	if w.atOnce {
		timeout.Waited = 0
	}
	return timeout
}

// lastFailure returns what went wrong last in a wait that the timeout has ended with err.
// That a request was under way then is none.
func (w *wait) lastFailure(err error) error {
	if connect := (*framework.ConnectError)(nil); errors.As(err, &connect) {
		return connect
	}
	request := w.failedRequest(err)
	switch {
	case request != nil:
		return request
	case errors.Is(err, framework.ErrSessionLost), errors.Is(err, ErrEvicted):
		return err
	}
	return w.failed
}

// failedRequest finds one in an error that did not fail because the time was up.
func (w *wait) failedRequest(err error) error {
	switch e := err.(type) { //nolint:errorlint // goes through all that is wrapped
	case *framework.OpError:
		if !errors.Is(e, context.Cause(w.ctx)) {
			return e
		}
	case interface{ Unwrap() error }:
		return w.failedRequest(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			if request := w.failedRequest(err); request != nil {
				return request
			}
		}
	}
	return nil
}
