package framework

import (
	"context"
	"sync/atomic"
)

// A notified is the function that GetNotify was given. All attempts of the read share
// it, so that it is called once.
type notified struct {
	over   atomic.Bool
	notify func(Event)
}

func (n *notified) deliver(ev Event) {
	if n.over.CompareAndSwap(false, true) {
		n.notify(ev)
	}
}

// GetNotify is GetWatch with a function in place of a channel.
func (v recipeView) GetNotify(ctx context.Context, path string, notify func(Event)) (data []byte, stat Stat, stop func(), err error) {
	return dataReading.notifies(ctx, v.Client, path, notify)
}

// ExistsNotify is ExistsWatch with a function in place of a channel.
func (v recipeView) ExistsNotify(ctx context.Context, path string, notify func(Event)) (exists bool, stat Stat, stop func(), err error) {
	return existenceReading.notifies(ctx, v.Client, path, notify)
}

// notifies reads together with a watch whose event goes to a function.
func (r *reading[T]) notifies(ctx context.Context, c *Client, path string, notify func(Event)) (value T, stat Stat, stop func(), err error) {
	n := &notified{notify: notify}
	f, err := r.watchFor(ctx, c, path, func() recipient { return n })
	if err != nil {
		n.over.Store(true) // the read may be under way
		return value, Stat{}, nil, err
	}
	own := f.own // not the value, which stop would keep
	return f.value, f.stat, func() { n.stop(own) }, nil
}

// stop ends a watch that is set.
func (n *notified) stop(own *waiter) {
	n.over.Store(true)
	own.drop()
}
