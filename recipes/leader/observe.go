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
// there is no leader the value is the zero Contender, whose Node is "".
//
// A slow loop gets the latest leader next: leaders that came and went meanwhile are
// left out. A leader that is elected again is a new value, with another token. The
// sequence goes on after broken connections and lost sessions; meanwhile the last value
// stands.
//
// It ends without an error when ctx does, and with an error if repetition cannot help,
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
	pauses *retry.Schedule // of the present series of failures
	begun  bool            // a leader was yielded
	node   string          // that of the last one, "" for none
}

// look reads the leader, yields it if it has changed, and waits until it may have
// changed again. It returns false if the sequence is over.
func (o *observer) look(ctx context.Context) (goOn bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the watch, if the loop is left
	head, changed, err := o.watchHead(ctx)
	switch {
	case ctx.Err() != nil:
		return false
	case hopeless(err):
		o.yield(lease.Contender{}, err)
		return false
	case err != nil:
		return o.pause(ctx, err)
	}
	o.pauses = o.backoff.Start()
	if !o.begun || head.Node != o.node {
		o.begun, o.node = true, head.Node
		if !o.yield(head, nil) {
			return false
		}
	}
	found, stop := o.recipe.Queue.LookAgain(ctx, head.Path, head.Node != "")
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

// watchHead reads the leader with a watch, the first time from a server that has caught
// up. After that no server knows less than an earlier answer: in one session ZooKeeper
// ensures that, and a new session is itself a change that the server has seen.
func (o *observer) watchHead(ctx context.Context) (head lease.Contender, w *framework.Watch, err error) {
	if !o.begun {
		if err := o.recipe.Queue.CatchUp(ctx); err != nil {
			return lease.Contender{}, nil, err
		}
	}
	return o.recipe.Queue.WatchHead(ctx)
}

// pause pauses after a failed look.
func (o *observer) pause(ctx context.Context, failed error) (goOn bool) {
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
