package hold

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// close ends all holds because Close has begun. Their contexts have ended when it
// returns, before the session is closed.
func (t *table) close() {
	t.mu.Lock()
	t.closing = true
	all := t.holds()
	t.mu.Unlock()
	for _, h := range all {
		h.lose(framework.ErrClosed)
	}
	t.awake()
}

// holds returns all holds. The caller has the lock.
func (t *table) holds() (all []*Hold) {
	for _, n := range t.due {
		if n == &n.hold.entry.own {
			all = append(all, n.hold)
		}
	}
	return all
}

// run looks after the holds until the session is over, or until Close has begun and all
// are released. Then it has ended and reported all of them.
func (t *table) run(context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for idle := false; ; {
		over := t.session.Err() != nil
		lost := t.attendAll(over)
		t.report(lost)
		t.startLooks()
		wait, suspended, ok := t.rest(over, idle)
		if !ok {
			return
		}
		timer.Reset(wait)
		idle = false
		select {
		case <-timer.C:
			idle = true
		case <-t.wake:
		case <-suspended:
		case <-t.session.Done():
		}
	}
}

// rest returns what to wait for; ok is false if the goroutine is to end. A table that
// is empty rests for LookDelay at first, and idle says that it has: else each of many
// holds that are released at once would wake the goroutine.
func (t *table) rest(over, idle bool) (wait time.Duration, suspended <-chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.armed = never; len(t.due) > 0 {
		t.armed = t.due[0].next()
	} else if over || t.closing {
		t.over = true
		return 0, nil, false
	} else if !idle {
		t.armed = t.now() + LookDelay
	}
	return min(max(t.armed-t.now(), 0), time.Hour), t.suspended, true
}

// attendAll ends the holds that are over, and removes the znodes of those that were
// lost a while ago. It returns those that are lost now.
func (t *table) attendAll(over bool) (lost []*Hold) {
	for _, h := range t.take(over) {
		if t.attend(h) {
			lost = append(lost, h)
		}
	}
	return lost
}

// take returns the holds that are marked or due, or all, and queues the looks that are
// due.
func (t *table) take(all bool) []*Hold {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.suspended:
		t.suspended, all = nil, true
	default:
	}
	for now := t.now(); len(t.due) > 0 && t.due[0].next() <= now; {
		n := t.due[0]
		if n.look <= now {
			n.look = never
			t.looks = append(t.looks, n)
		}
		if h := n.hold; n == &h.entry.own && h.entry.ends <= now {
			h.entry.ends, h.entry.due = never, true
			t.markEntry(h)
		}
		t.due.moved(n)
	}
	marked := t.marked
	t.marked = nil
	for _, h := range marked {
		h.entry.marked = false
	}
	if all {
		return t.holds()
	}
	return marked
}

// attend asks a hold whether it is lost, and does what is due then. It returns whether
// that is to be reported.
func (t *table) attend(h *Hold) (report bool) {
	_ = h.err() // which ends it
	loss := h.lossNow()
	if loss == nil {
		return false
	}
	remains, grace := h.remains(), h.Session().Timeout()/6
	if errors.Is(loss, framework.ErrClosed) {
		grace = never // Config.CloseGrace counts
	}
	t.mu.Lock()
	in, known, due := h.entry.own.in(), h.entry.lost, h.entry.due
	h.entry.lost = true
	stays := remains && !h.entry.released
	if in && stays && !known {
		t.windDown(h, grace)
	}
	t.mu.Unlock()
	switch {
	case !in:
		return false
	case !remains:
		h.unwatch() // it is gone
		h.forget()
		t.drop(h)
	case !stays:
		t.drop(h)
	case known && due:
		h.remove()
		t.drop(h)
	}
	return !known
}

// windDown gives work under a lost lease the same time to end as a lost session would,
// before the znodes are deleted, which admits the next client. The caller has the lock.
func (t *table) windDown(h *Hold, grace time.Duration) {
	h.entry.ends, h.entry.due = never, false
	if grace != never {
		h.entry.ends = t.now() + grace
	}
	for n := range h.entry.nodes() {
		n.look = never
		t.due.moved(n)
	}
}

// report notifies observers of losses, in another goroutine: they may take their time.
func (t *table) report(lost []*Hold) {
	if len(lost) == 0 || lost[0].observers == nil {
		return
	}
	notify := func(context.Context) {
		for _, h := range lost {
			h.notifyLost()
		}
	}
	if !t.session.Go(notify) { // which is over, and its goroutines are waited for
		notify(nil)
	}
}
