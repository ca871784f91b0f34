package hold

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// lossNow returns the error of a loss that is known.
func (h *Hold) lossNow() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.loss == nil {
		return nil
	}
	return h.loss.why
}

// remains reports whether a znode of a lost hold may still exist: not after the end of
// the session, nor if the deletion of its only znode was the loss.
func (h *Hold) remains() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := h.loss != nil && errors.Is(h.loss.why, lease.ErrDeleted) && len(h.entry.also) == 0
	return h.loss != nil && !gone && h.Session().Err() == nil
}

// forget has the session no longer count the only znode of a hold, if another client
// has deleted it: there may have been no event for that.
func (h *Hold) forget() {
	if len(h.paths()) == 1 && errors.Is(h.lossNow(), lease.ErrDeleted) {
		kit.Of(h.client).Gone(h.Path())
	}
}

// remove deletes the znodes in the background, once.
func (h *Hold) remove() {
	h.mu.Lock()
	begun := h.removed
	h.removed = true
	h.mu.Unlock()
	if begun {
		return
	}
	for _, path := range h.paths() {
		kit.Of(h.client).DeleteInBackground(path)
	}
}

// paths returns all znodes.
func (h *Hold) paths() (all []string) {
	for n := range h.entry.nodes() {
		all = append(all, n.path)
	}
	return all
}

// removeNow deletes all znodes at once. What is not certainly deleted is left to the
// background.
func (h *Hold) removeNow(ctx context.Context, handsOver bool) error {
	switch {
	case h.recorded:
		return h.removeRecorded(ctx)
	case handsOver:
		return kit.Of(h.client).Release(ctx, h.Path())
	case len(h.entry.also) == 0:
		return h.client.DeleteGuaranteed(ctx, h.Path())
	}
	var ops []framework.Op
	for _, path := range h.paths() {
		ops = append(ops, framework.DeleteOp(path, framework.AnyVersion))
	}
	_, err := h.client.Multi(ctx, ops...)
	if err != nil {
		h.remove()
	}
	return err
}

// A removal is how a release deletes the znodes.
type removal int

const (
	awaited   removal = iota // until the server has answered
	sent                     // without an answer, but awaited if it cannot be sent at once
	discarded                // the same, but left to the background if it cannot: no caller has got the lease
	givenUp                  // as discarded, but nobody has said that the work under it has ended
)

// close releases the slot: the last handle was released.
func (h *Hold) close(by removal) error {
	if by == discarded && h.wasCutShort() {
		by = givenUp
	}
	if err := h.err(); err != nil {
		switch {
		case by != givenUp && errors.Is(err, framework.ErrClosed):
			_ = h.unrecord() // the work was told to end, and has; or there was none
		case by == discarded: // there was no work
			h.unrecordInBackground()
		}
		h.letGo(true)
		h.forget()
		if h.remains() {
			h.remove()
		}
		return err
	}
	h.mu.Lock()
	h.closed = true
	lost := h.loss != nil // just now: the table reports it
	handsOver := !lost && !h.keeps
	h.mu.Unlock()
	ended := func(error) {}
	if h.observers != nil && !lost {
		held := h.held()
		ended = func(err error) { h.notifyEnd(held, err) }
	}
	if by < discarded && !lost && h.rest() > 0 {
		return h.freeRested(by, ended)
	}
	if by == discarded && h.isClosing() {
		_ = h.unrecord() // while the session lasts: nothing goes on in the background
	}
	h.letGo(lost)
	if by != awaited && h.sendRemoval(handsOver, ended) {
		return nil
	}
	if by >= discarded {
		h.unwatch()
		h.remove()
		if by == discarded {
			h.unrecordInBackground()
		}
		ended(nil)
		return nil
	}
	err := h.free(handsOver)
	ended(err)
	return err
}

// free removes the znodes of a hold that is released. It returns an error if the slot
// was not its own any more, or if it remains taken.
func (h *Hold) free(handsOver bool) error {
	ctx, cancel := h.removal()
	defer cancel()
	err := h.removeNow(ctx, handsOver)
	h.unwatch()
	return h.freed(err, ctx.Err() != nil)
}

// sendRemoval is free that does not wait, and logs the error. ended gets it, where
// answers come. It reports false if that cannot be done.
func (h *Hold) sendRemoval(handsOver bool, ended func(err error)) bool {
	ctx := context.Background()
	if h.observers != nil {
		ctx = context.WithoutCancel(h.observers.work)
	}
	return len(h.entry.also) == 0 && !h.recorded && kit.Of(h.client).SendDelete(ctx, h.Path(), handsOver, func(err error) {
		h.unwatch()
		err = h.freed(err, false)
		ended(err)
		if err != nil {
			h.Session().Go(func(context.Context) { h.logFailed(err) }) // a logger may block
		}
	})
}

func (h *Hold) logFailed(err error) {
	kit.Of(h.client).Logger().Warn("release failed after it had returned", "error", err)
}

// freed returns the error of a release whose removal has ended with an error.
func (h *Hold) freed(err error, late bool) error {
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return h.lost(lease.ErrDeleted)
	case framework.OutcomeOf(err) == framework.Unknown, late:
		// It stood when it was released, and the framework does the rest.
		return nil
	case errors.Is(err, framework.ErrSessionLost), errors.Is(err, framework.ErrClosed):
		return h.lost(err)
	case errors.Is(err, framework.ErrNoAuth): // an ACL that lets us create, but not delete
		return fmt.Errorf("release %s: %w", quote.Path(h.client.FullPath(h.Path())), err)
	}
	return nil // the background removes them
}

// removal returns the context for the removal of the znodes.
func (h *Hold) removal() (context.Context, context.CancelFunc) {
	limit := h.Session().Timeout() / 3
	select {
	case <-h.Session().Suspended():
	default:
		if h.observers == nil {
			return h.table.removal(limit), func() {}
		}
	}
	var values context.Context
	if h.observers != nil {
		values = h.observers.work
	}
	return RemovalContext(values, h.Session(), limit)
}

// removal returns a context that ends within a limit, and not much sooner. The removals
// that begin within an eighth of that share one.
func (t *table) removal(limit time.Duration) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.now(); t.removing == nil || now >= t.renewal {
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
		t.removing, t.renewal = ctx, now+limit/8
	}
	return t.removing
}

// letGo ends the vouching for the znodes, which are deleted next, and takes the hold
// out of the table, which reports the end of one that is lost first.
func (h *Hold) letGo(lost bool) {
	h.end()
	h.table.release(h, lost)
}

// RemovalContext bounds the removal of a node: by a time, and by nothing at all while
// there is no connection, because then the background has to do it anyway. It has the
// values of a context, nil for none, and does not end with it.
func RemovalContext(values context.Context, s *framework.Session, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx := context.Background()
	if values != nil {
		ctx = context.WithoutCancel(values)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	select {
	case <-s.Suspended():
		cancel()
	default:
	}
	return ctx, cancel
}
