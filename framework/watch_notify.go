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
	n := &notified{notify: notify}
	read, err := dataReading.watchFor(ctx, v.Client, path, func() recipient { return n })
	if err != nil {
		n.over.Store(true) // the read may be under way
		return nil, Stat{}, nil, err
	}
	own := read.own
	return read.value, toStat(read.stat), func() {
		n.over.Store(true)
		own.drop()
	}, nil
}
