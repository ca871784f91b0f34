package hold

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// lookDelay is how long a hold that was granted without a wait, and so without a watch
// on its own znode, waits before it sets one. A hold that has ended by then, as most
// have, saves the read; any other finds an earlier deletion when it sets the watch.
const lookDelay = 10 * time.Millisecond

// lookAgain is how long it waits after a read without an answer.
const lookAgain = 100 * time.Millisecond

// watch ends the hold when it must end. One goroutine runs it for each znode, which it
// watches. ctx ends with the session.
func (h *Hold) watch(ctx context.Context, path string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // also of a read that is under way
	defer h.lookAgainAt(ctx, path)()
	maxHold := after(h.MaxHold)
	defer maxHold.Stop()
	due, events := h.begin(path)
	defer due.Stop()
	looks := make(chan (<-chan framework.Event), 1)
	for h.err() == nil {
		select {
		case <-ctx.Done():
			h.lose(h.Session.Err())
		case <-h.over.Done(): // another goroutine has ended it
		case <-h.suspended:
			h.lose(lease.ErrSuspended)
		case <-maxHold.C:
			h.lose(lease.ErrMaxHold)
		case err := <-h.Reliance.Failed():
			h.lose(missing(err))
		case <-due.C: // in another goroutine: without a connection the read takes long
			h.Session.Go(func(context.Context) { looks <- h.lookAt(ctx, path) })
		case events = <-looks:
			if events == nil {
				due.Reset(lookAgain)
			}
		case ev, ok := <-events:
			events = nil
			switch {
			case ok && ev.Type == framework.EventDeleted:
				h.lose(lease.ErrDeleted)
			case !ok || ev.Type != framework.EventSessionEnded:
				due.Reset(0)
			}
		}
	}
	if path == h.Path {
		h.notifyLost()
	}
	if h.remains() {
		h.windDown(ctx)
	}
}

// begin returns the events of the watch that came with the grant, or a timer for the
// first read.
func (h *Hold) begin(path string) (*time.Timer, <-chan framework.Event) {
	if h.Watch != nil && path == h.Path {
		return after(0), h.Watch.Events()
	}
	return after(lookDelay), nil
}

// lookAt reads a znode of the hold and watches it. nil means that there is no watch:
// the hold has ended, or there was no answer.
func (h *Hold) lookAt(ctx context.Context, path string) <-chan framework.Event {
	data, stat, w, err := h.Client.GetWatch(ctx, path)
	if errors.Is(err, framework.ErrReplyTooLarge) { // the size of the data does not end a hold
		var exists bool
		if exists, stat, w, err = h.Client.ExistsWatch(ctx, path); err == nil && !exists {
			err = framework.ErrNoNode
		}
	}
	if h.judge(stat, err) || err != nil { // without an answer it reads again
		return nil
	}
	if znode.RevocationRequested(data) {
		h.revocationRequested.Give()
	}
	return w.Events()
}

// judge ends the hold if a read of one of its znodes shows that it was deleted, was
// replaced, or must not be read any more, so that it cannot be watched.
func (h *Hold) judge(stat framework.Stat, err error) (lost bool) {
	switch {
	case errors.Is(err, framework.ErrNoNode), framework.OutcomeOf(err) == framework.Failed && errors.Is(err, framework.ErrNoAuth):
		h.lose(missing(err))
	case err == nil && (stat.Czxid != h.Czxid || stat.EphemeralOwner != h.Session.ID()):
		h.lose(errReplaced)
	default:
		return false
	}
	return true
}

// missing returns the reason of a loss: the znode was not found, or may not be read
// after a change of its ACL, so that its existence is unknown.
func missing(err error) error {
	if errors.Is(err, framework.ErrNoNode) {
		return lease.ErrDeleted
	}
	return err
}

// windDown gives work under a lost lease the same time to end as a lost session would,
// before it deletes the znodes, which admits the next client. A client that is being
// closed gives it another time: see framework.Config.CloseGrace.
func (h *Hold) windDown(ctx context.Context) {
	grace := time.NewTimer(h.Session.Timeout() / 6)
	defer grace.Stop()
	if errors.Is(h.err(), framework.ErrClosed) {
		grace.Stop()
	}
	select {
	case <-grace.C:
		h.remove()
	case <-h.released.Done(): // close deletes them
	case <-ctx.Done():
	}
}

// after returns a timer that fires after d, or never if d is 0.
func after(d time.Duration) *time.Timer {
	if d > 0 {
		return time.NewTimer(d)
	}
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}
