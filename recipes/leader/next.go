package leader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Why MakeNext has failed.
var (
	// ErrNoCandidate means that no candidate has the id. One that steps back has no
	// znode for a moment.
	ErrNoCandidate = errors.New("no candidate has this id")
	// ErrStepsBack means that the candidate was asked to step back itself, by another
	// MakeNext. It counts when it has joined the queue again.
	ErrStepsBack = errors.New("the candidate was asked to step back itself")
	// ErrLeadsAlready means that the leader has the id, and no candidate behind it that
	// counts.
	ErrLeadsAlready = errors.New("the candidate is the leader")
	// ErrNotPassed means that a candidate between the two, or the named one behind
	// others, is not one of this module, such as a LeaderLatch of Apache Curator: that
	// does not step back, nor does it notice when the one ahead of it has.
	ErrNotPassed = errors.New("a candidate of another kind of client neither steps back nor passes others")
)

// MakeNext makes the candidate with that id the next one behind the leader, and returns
// the leader. When the term of that ends, the candidate is granted the next one, unless
// it has left the queue by then, because its session has ended, as a rule, or another
// MakeNext has requested it. So a leader that wants a certain candidate to lead after
// it calls MakeNext, and resigns; any other process calls it, and then
// lease.RequestRevocation for the leader's Path.
//
// The candidates between the two are asked to step back: each leaves the queue, and
// joins it again at the end. They do it themselves, so a term is still granted only to
// a candidate with nothing ahead of it. The leader is not affected, and it takes a few
// round trips, no session timeout. MakeNext returns nil once nobody is between the two;
// nobody can come between them later. Of several candidates with the id, the first
// behind the leader counts.
//
// Errors: ErrNoCandidate, ErrStepsBack, ErrLeadsAlready, ErrNotPassed, and the cause of
// ctx when that ends. If it ends because a candidate has not stepped back in time, the
// error names that; as a rule its process does not run. Those that were asked may still
// step back after a failure. framework.ErrNoAuth means that candidates use credentials
// which the client does not have.
func (e *Election) MakeNext(ctx context.Context, id string) (leader lease.Contender, err error) {
	if err := e.check(); err != nil {
		return lease.Contender{}, err
	}
	var between []*queue.Entry // as far as is known
	for {
		head, found, named, err := e.find(ctx, id)
		if err == nil {
			between = found
		}
		switch {
		case err != nil:
		case len(between) == 0:
			head.Holding = true
			return head.Contender, nil
		default:
			err = unlessChanged(e.stepBack(ctx, head, between, named))
		}
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			err = interrupted(ctx, err, between)
		}
		return lease.Contender{}, fmt.Errorf("make %s the next leader of %s: %w", quote.Brief(id), e.path, err)
	}
}

// interrupted is the error when ctx has ended.
func interrupted(ctx context.Context, failed error, between []*queue.Entry) error {
	err := failed
	if cause := context.Cause(ctx); !errors.Is(failed, cause) {
		err = fmt.Errorf("%w; last failure: %w", cause, failed)
	}
	if len(between) > 0 {
		err = fmt.Errorf("%w; not yet stepped back: %s", err, between[len(between)-1])
	}
	return err
}

// find returns the leader, the candidate with the id, and those between the two. Nobody
// comes between them any more: numbers grow.
func (e *Election) find(ctx context.Context, id string) (head *queue.Entry, between []*queue.Entry, named *queue.Entry, err error) {
	all, err := e.recipe.Queue.Entries(ctx)
	switch {
	case err != nil:
		return nil, nil, nil, err
	case len(all) == 0:
		return nil, nil, nil, ErrNoCandidate
	}
	head, behind := all[0], all[1:]
	has := func(c *queue.Entry) bool { return c.Holder.Who == id }
	at := slices.IndexFunc(behind, func(c *queue.Entry) bool { return has(c) && !znode.StepBackRequested(c.Data) })
	switch {
	case at >= 0:
		return head, behind[:at], behind[at], nil
	case has(head):
		return nil, nil, nil, ErrLeadsAlready
	case slices.ContainsFunc(behind, has):
		return nil, nil, nil, ErrStepsBack
	}
	return nil, nil, nil, ErrNoCandidate
}

// stepBack asks those ahead of the named candidate to step back, and waits until they
// may have, or something else has changed.
//
// A LeaderLatch of Curator watches the node ahead of it for one change. If that is of
// the data, it never notices that the node is deleted. So none of the nodes that are
// changed here may have such a one behind it.
func (e *Election) stepBack(ctx context.Context, head *queue.Entry, between []*queue.Entry, named *queue.Entry) error {
	for _, c := range append(slices.Clone(between), named) {
		if !protection.IsOurs(c.Node) {
			return fmt.Errorf("%w: %s", ErrNotPassed, c)
		}
	}
	if err := e.ask(ctx, between, named); err != nil {
		return err
	}
	return e.await(ctx, head, between[len(between)-1], named)
}

// maxAsked is how many bytes the paths and data have of the nodes that are changed in
// one transaction.
const maxAsked = 4 << 10

// ask asks candidates to step back, while the named one is behind them.
func (e *Election) ask(ctx context.Context, between []*queue.Entry, named *queue.Entry) error {
	for len(between) > 0 {
		ops := []framework.Op{framework.CheckOp(named.Path, framework.AnyVersion)}
		for size := 0; len(between) > 0 && size < maxAsked; between = between[1:] {
			c := between[0]
			if marked, change := znode.MarkStepBack(c.Data); change {
				ops = append(ops, framework.SetOp(c.Path, marked, c.Version))
				size += len(c.Path) + len(marked)
			}
		}
		if len(ops) == 1 {
			break
		}
		if _, err := e.recipe.Client.Multi(ctx, ops...); err != nil {
			return err
		}
	}
	return nil
}

// unlessChanged returns nil in place of an error which only says that the queue has
// changed, or may have.
func unlessChanged(err error) error {
	for _, change := range []error{framework.ErrNoNode, framework.ErrBadVersion, framework.ErrUnknownOutcome} {
		if errors.Is(err, change) {
			return nil
		}
	}
	return err
}

// await waits until the last of those that were asked has left, or the leader or the
// named candidate has changed: the last one may be the leader then. Once per session
// timeout it returns all the same, as a change may have come without an event.
func (e *Election) await(ctx context.Context, head, last, named *queue.Entry) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the watches
	look := time.NewTimer(hold.LookInterval(e.recipe.Client.Session(), named.Path))
	defer look.Stop()
	var events [3]<-chan framework.Event
	for i, c := range []*queue.Entry{head, named, last} {
		data, stat, w, err := e.recipe.Client.GetWatch(ctx, c.Path)
		switch {
		case err != nil:
			return err
		case c == last && !znode.StepBackRequested(data), c != last && stat.Version != c.Version:
			return nil
		}
		events[i] = w.Events()
	}
	select {
	case <-events[0]:
	case <-events[1]:
	case <-events[2]:
	case <-look.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
