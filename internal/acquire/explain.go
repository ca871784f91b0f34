package acquire

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// explain returns the error of a failed wait for the caller.
func (w *wait) explain(err error) error {
	switch {
	case errors.Is(err, framework.ErrClosed):
	case w.timedOut() || errors.Is(err, queue.ErrNotFree):
		return w.timeoutError(err)
	case w.try.Work.Err() != nil:
		err = context.Cause(w.try.Work)
	}
	return w.recipe.Failed(err)
}

func (w *wait) timeoutError(err error) error {
	timeout := &lease.TimeoutError{
		Path: w.recipe.Client.FullPath(w.recipe.Path), Waited: time.Since(w.start), Ahead: w.seen.Ahead, Node: w.seen.Head,
		Err: w.lastFailure(err), Cause: context.Cause(w.try.Work),
	}
	if w.seen.Holder != nil {
		timeout.Holder = *w.seen.Holder
	}
	if closed := w.try.endings.Closed; closed != nil && errors.Is(timeout.Err, closed) {
		timeout.Node, timeout.Holder, timeout.Ahead = closed.Node, closed.Holder, max(timeout.Ahead, 0)
	}
	if now := w.reachable(); errors.Is(now, framework.ErrNotConnected) && !errors.Is(err, framework.ErrNotConnected) {
		timeout.Err = now // it waited for an event, which no server could send
	}
	if w.try.AtOnce {
		timeout.Waited = 0
	}
	return timeout
}

// reachable asks the session in which the wait was, and the main one.
func (w *wait) reachable() error {
	now := w.recipe.Client.Reachable()
	if t := w.try.Client; t != nil && now == nil {
		now = t.Reachable()
	}
	return now
}

// lastFailure returns the last failure of a wait that the timeout has ended with err. A
// request that the timeout has interrupted is none.
func (w *wait) lastFailure(err error) error {
	if connect := (*framework.ConnectError)(nil); errors.As(err, &connect) {
		return connect
	}
	request := w.failedRequest(err)
	switch {
	case request != nil:
		return request
	case w.try.endings.Closed != nil:
		return w.try.endings.Closed
	case errors.Is(err, framework.ErrSessionLost), errors.Is(err, queue.ErrEvicted):
		return err
	}
	return w.failed
}

// failedRequest finds in an error a request that failed before the time was up.
func (w *wait) failedRequest(err error) error {
	switch e := err.(type) { //nolint:errorlint // visits all wrapped errors
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
