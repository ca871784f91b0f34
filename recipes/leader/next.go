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
	// ErrNoCandidate means that no candidate has the id.
	ErrNoCandidate = errors.New("no candidate has this id")
	// ErrLeadsAlready means that the leader has the id, and no candidate behind it.
	ErrLeadsAlready = errors.New("the candidate is the leader")
	// ErrNotPassed means that a candidate between the two is not one of this module,
	// such as a LeaderLatch of Apache Curator: it cannot be asked to step back. No
	// candidate was asked then.
	ErrNotPassed = errors.New("a candidate ahead cannot step back")
)

// MakeNext makes the candidate with that id the next one behind the leader, and returns
// the leader. When the term of that ends, the candidate is granted the next one, unless
// it has left the queue, or its session has ended. So a leader that wants a certain
// candidate to lead after it calls MakeNext, and resigns; any other process calls it,
// and then lease.RequestRevocation for the leader's Path.
//
// The candidates between the two are asked to step back: each leaves the queue, and
// joins it again at the end. They do it themselves, so a term is still granted only to
// a candidate with nothing ahead of it. The leader is not affected, and nobody waits
// for a session timeout. MakeNext returns nil once nobody is between the two, which
// then remains so. Of several candidates with the id, the first behind the leader
// counts.
//
// Each candidate between the two must be one of this module: that of another client,
// such as a LeaderLatch of Apache Curator, is not passed. The leader, the candidate
// itself and those behind it may be such.
//
// Errors: ErrNoCandidate, ErrLeadsAlready, ErrNotPassed, and if ctx ends, its cause:
// then a candidate has not stepped back in time, as its process does not run or its
// client has more than 64 candidates in the queue. Those that have stepped back stay
// where they are. framework.ErrNoAuth means that candidates use credentials which the
// client does not have.
func (e *Election) MakeNext(ctx context.Context, id string) (leader lease.Contender, err error) {
	if err := e.check(); err != nil {
		return lease.Contender{}, err
	}
	for {
		head, between, named, err := e.find(ctx, id)
		switch {
		case err != nil:
		case len(between) == 0 && !znode.StepBackRequested(named.Data): // another MakeNext has asked it to
			return head.Contender, nil
		default:
			err = e.stepBack(ctx, head, between, named)
		}
		if err != nil {
			return lease.Contender{}, fmt.Errorf("make %s the next leader of %s: %w", quote.Brief(id), e.path, err)
		}
	}
}

// find returns the leader, the candidate with the id, and those between the two. Nobody
// comes between them any more: numbers grow.
func (e *Election) find(ctx context.Context, id string) (head *queue.Entry, between []*queue.Entry, named *queue.Entry, err error) {
	all, err := e.recipe.Queue.Entries(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	has := func(c *queue.Entry) bool { return c.Holder.Who == id }
	if len(all) == 0 {
		return nil, nil, nil, ErrNoCandidate
	}
	head, behind := all[0], all[1:]
	at := slices.IndexFunc(behind, has)
	switch {
	case at >= 0:
		return head, behind[:at], behind[at], nil
	case has(head):
		return nil, nil, nil, ErrLeadsAlready
	}
	return nil, nil, nil, ErrNoCandidate
}

// stepBack asks those ahead of the named candidate to step back, and waits until they
// have. It returns nil also when something else has changed.
func (e *Election) stepBack(ctx context.Context, head *queue.Entry, between []*queue.Entry, named *queue.Entry) error {
	for _, c := range between {
		if !protection.IsOurs(c.Node) {
			return fmt.Errorf("%w, as it is not of this module: %s", ErrNotPassed, c)
		}
	}
	for some := range slices.Chunk(between, maxAsked) {
		if changed, err := e.ask(ctx, some, named); changed || err != nil {
			return err
		}
	}
	if znode.StepBackRequested(named.Data) {
		between = append(slices.Clone(between), named)
	}
	return e.awaitGone(ctx, between, head, named)
}

// maxAsked is how many candidates are asked in one transaction: with the longest ids it
// is well below the largest request that a server takes.
const maxAsked = 128

// ask asks candidates to step back, unless the named one has left. changed says that
// the queue is not as it was found.
func (e *Election) ask(ctx context.Context, candidates []*queue.Entry, named *queue.Entry) (changed bool, err error) {
	ops := []framework.Op{framework.CheckOp(named.Path, framework.AnyVersion)}
	for _, c := range candidates {
		if marked, change := znode.MarkStepBack(c.Data); change {
			ops = append(ops, framework.SetOp(c.Path, marked, c.Version))
		}
	}
	if len(ops) == 1 {
		return false, nil
	}
	_, err = e.recipe.Client.Multi(ctx, ops...)
	return hasChanged(err)
}

// hasChanged tells errors that only say that the queue has changed, or may have, from
// others.
func hasChanged(err error) (changed bool, other error) {
	for _, change := range []error{framework.ErrNoNode, framework.ErrBadVersion, framework.ErrUnknownOutcome} {
		if errors.Is(err, change) {
			return true, nil
		}
	}
	return false, err
}

// awaitGone waits until these have left, unless the leader or the named candidate
// changes: one of those between may be the leader then. Once per session timeout it
// returns all the same, as a change may have come without an event.
func (e *Election) awaitGone(ctx context.Context, between []*queue.Entry, head, named *queue.Entry) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the watches
	look := time.NewTimer(hold.LookInterval(e.recipe.Client.Session(), named.Path))
	defer look.Stop()
	var watches [2]*framework.Watch
	for i, c := range []*queue.Entry{head, named} {
		_, stat, w, err := e.recipe.Client.GetWatch(ctx, c.Path)
		if changed, err := hasChanged(err); changed || err != nil || stat.Version != c.Version {
			return err
		}
		watches[i] = w
	}
	for len(between) > 0 {
		_, _, w, err := e.recipe.Client.GetWatch(ctx, between[0].Path)
		switch {
		case errors.Is(err, framework.ErrNoNode):
			between = between[1:]
			continue
		case err != nil:
			return err
		}
		select {
		case <-w.Events():
		case <-watches[0].Events():
			return nil
		case <-watches[1].Events():
			return nil
		case <-look.C:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%w: not yet stepped back: %s", context.Cause(ctx), between[0])
		}
	}
	return nil
}
