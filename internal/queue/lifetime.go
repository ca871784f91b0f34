package queue

import "context"

// A lifetime ends with another context until it is detached from that, and by cancel.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelFunc
	detach func() bool // false if the other has ended
}

func within(outer context.Context) *lifetime {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(outer))
	return &lifetime{
		ctx: ctx, cancel: func() { cancel(nil) },
		detach: context.AfterFunc(outer, func() { cancel(context.Cause(outer)) }),
	}
}
