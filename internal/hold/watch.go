package hold

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// lookDelay is how long a hold that was granted without waiting, and so without a
// watch on its own znode, waits before it sets one. A hold that is over by then, as
// most are, saves the read; one that lasts learns of a deletion that came earlier
// when it sets the watch.
const lookDelay = 10 * time.Millisecond

// lookAgain is how long it waits after a look that got no answer.
const lookAgain = 100 * time.Millisecond

// watch ends the hold when it must end. ctx ends with the session.
func (h *Hold) watch(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	maxHold := after(h.MaxHold)
	defer maxHold.Stop()
	defer h.unwatch()
	defer h.lookAgainAt(ctx, h.Path)()
	due, events := h.begin()
	defer due.Stop()
	looks := make(chan (<-chan framework.Event), 1)
	looking := false
	defer func() { // of the one goroutine that this one starts
		cancel() // a release need not wait for a read that goes on there
		if looking {
			<-looks
		}
	}()
	for {
		select {
		case <-h.released:
			return
		case <-ctx.Done():
			if err := h.Session.Err(); err != nil {
				h.lose(err)
			}
			return
		case <-h.over.Done(): // somebody else has found out
		case <-h.suspended:
			h.lose(lease.ErrSuspended)
		case <-maxHold.C:
			h.lose(lease.ErrMaxHold)
		case err := <-h.Reliance.Failed():
			h.lose(missing(err))
		case <-due.C: // beside this loop: the read may take as long as there is no connection
			looking = true
			go func() { looks <- h.lookAt(ctx, h.Path) }()
		case events = <-looks:
			looking = false
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
		if h.remains() {
			h.windDown(ctx)
			return
		}
		if h.err() != nil {
			return
		}
	}
}

// begin returns the events of the watch that came with the grant, or a timer for
// the first look.
func (h *Hold) begin() (*time.Timer, <-chan framework.Event) {
	if h.Watch != nil {
		return after(0), h.Watch.Events()
	}
	return after(lookDelay), nil
}

// unwatch ends the watch that came with the grant.
func (h *Hold) unwatch() {
	if h.Unwatch != nil {
		h.Unwatch()
	}
}

// watchAlso ends the hold when one of its further znodes goes.
func (h *Hold) watchAlso(ctx context.Context, path string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.over, cancel)()
	defer h.lookAgainAt(ctx, path)()
	pause := lookDelay
	for retry.Sleep(ctx, pause) == nil {
		pause = lookAgain
		events := h.lookAt(ctx, path)
		if events == nil {
			continue
		}
		select {
		case ev, ok := <-events:
			switch {
			case ok && ev.Type == framework.EventDeleted:
				h.lose(lease.ErrDeleted)
				return
			case ok && ev.Type == framework.EventSessionEnded:
				return // the first znode's watch says so
			}
			pause = 0
		case <-ctx.Done():
			return
		}
	}
}

// lookAt reads a znode of the hold and watches it. nil means that there is no watch:
// the hold is over, or there was no answer.
func (h *Hold) lookAt(ctx context.Context, path string) <-chan framework.Event {
	data, stat, w, err := h.Client.GetWatch(ctx, path)
	if errors.Is(err, framework.ErrReplyTooLarge) { // what somebody has set is no question to the holder
		var exists bool
		if exists, stat, w, err = h.Client.ExistsWatch(ctx, path); err == nil && !exists {
			err = framework.ErrNoNode
		}
	}
	if h.judge(stat, err) || err != nil { // without an answer: look again
		return nil
	}
	if znode.Revoked(data) {
		h.ask()
	}
	return w.Events()
}

// judge ends the hold if the answer to a read of one of its znodes says that it has gone,
// is another, or must not be read any more, so that it cannot be watched.
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

// missing returns the reason of a loss because a znode was not found, or may not be read
// since its ACL was changed, so that nobody knows.
func missing(err error) error {
	if errors.Is(err, framework.ErrNoNode) {
		return lease.ErrDeleted
	}
	return err
}

// ask tells the holder, once, that it was asked to give way.
func (h *Hold) ask() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.asked {
		h.asked = true
		close(h.revoked)
	}
}

// windDown gives work under a lost lease the time that it would have had if the
// session had been lost, before the znode goes and the next one is let in. A client that
// is being closed gives it another time: see framework.Config.CloseGrace.
func (h *Hold) windDown(ctx context.Context) {
	grace := after(h.Session.Timeout() / 6)
	if errors.Is(h.err(), framework.ErrClosed) {
		grace = after(0)
	}
	defer grace.Stop()
	select {
	case <-grace.C:
		h.remove()
	case <-h.released: // close has seen to it
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
