package leader

import (
	"context"
	"errors"
	"iter"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// Observe returns the leaders as they change, beginning with the present one. While
// nobody leads the value is the zero Contender, whose Node is "".
//
// However slow the loop over it is, it is given the latest leader next, and nothing
// else: leaders who came and went meanwhile are left out. A leader who leads again is a
// new value, with another token. It rides out broken connections and the ends of
// sessions, during which nothing is known and the value before stands.
//
// It ends, without an error, when ctx does, and with one that no repetition can help,
// such as framework.ErrClosed or framework.ErrNoAuth.
func (e *Election) Observe(ctx context.Context) iter.Seq2[lease.Contender, error] {
	return func(yield func(lease.Contender, error) bool) {
		if err := e.check(); err != nil {
			yield(lease.Contender{}, err)
			return
		}
		o := &observer{Election: e, pauses: e.backoff.Start(), yield: yield}
		for o.look(ctx) && ctx.Err() == nil {
		}
	}
}

// An observer is one loop over Observe.
type observer struct {
	*Election
	yield  func(lease.Contender, error) bool
	pauses *retry.Schedule // of the present row of failures
	told   bool            // something was yielded
	node   string          // that of the leader who was told, "" for none
}

// look finds out who leads, tells it if it is news, and waits until that may have
// changed. It returns false if there is nothing more to be told.
func (o *observer) look(ctx context.Context) (goOn bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // of the watch, if the loop is left
	head, changed, err := o.watchHead(ctx)
	switch {
	case ctx.Err() != nil:
		return false
	case hopeless(err):
		o.yield(lease.Contender{}, err)
		return false
	case err != nil:
		return o.rest(ctx, err)
	}
	o.pauses = o.backoff.Start()
	if !o.told || head.Node != o.node {
		o.told, o.node = true, head.Node
		if !o.yield(head, nil) {
			return false
		}
	}
	found, stop := o.queue.LookAgain(ctx, head.Path, head.Node != "")
	defer stop()
	select {
	case <-changed.Events():
		return true
	case <-found:
		return true
	case <-ctx.Done():
		return false
	}
}

// watchHead begins with what is known when Observe is called. After that a server knows
// at least what it, or another, has told before: in one session ZooKeeper sees to that,
// and a new session is itself a change that the server has seen.
func (o *observer) watchHead(ctx context.Context) (head lease.Contender, w *framework.Watch, err error) {
	if !o.told {
		if err := o.queue.CatchUp(ctx); err != nil {
			return lease.Contender{}, nil, err
		}
	}
	return o.queue.WatchHead(ctx)
}

// rest pauses after a failed look.
func (o *observer) rest(ctx context.Context, failed error) (goOn bool) {
	pause, more := o.pauses.Next()
	if errors.Is(failed, framework.ErrSessionLost) { // does another follow?
		_, err := o.recipe.Client.AwaitSession(ctx)
		more = more && !errors.Is(err, framework.ErrSessionLost)
	}
	if !more {
		o.yield(lease.Contender{}, failed)
		return false
	}
	kit.Of(o.recipe.Client).Logger().Warn("leader not known", "election", o.path, "error", failed)
	return retry.Sleep(ctx, pause) == nil
}
