package histories

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A slot is what a lease has of one lock. Only that of a multi-lock has several.
type slot struct {
	lock    int          // the place of its queue in subject.queues
	number  int          // of stripes, by which the lock is that of a key; 0 if it does not change
	lease   *lease.Lease // on this lock alone
	token   int64
	side    string // of a read-write lock
	n       int    // permits
	inner   bool   // re-entered
	session int64
	excused bool // it may have been over at the grant
	ordered bool // no contender that excludes it may be ahead of its node
	used    bool // the server has carried out a request of its holder since the grant
	over    bool
	overAt  time.Duration // when it was first seen over
	lost    atomic.Bool
}

// folder is the path of the queue that a node is in.
func folder(node string) string { return node[:strings.LastIndexByte(node, '/')] }

// has tells whether a lease has a slot with that node.
func (t *tenure) has(node string) bool {
	return slices.ContainsFunc(t.op.Slots, func(s *slot) bool { return s.lease.Path() == node })
}

// use records that the server has carried out a request of the holder.
func (t *tenure) use() {
	for _, s := range t.op.Slots {
		s.used = true
	}
}

// recordGrant records a lease that was granted just now, and checks its nodes and those
// ahead of them in the server's tree.
func (th *thread) recordGrant(o op, l *lease.Lease, outer *tenure, st Step) *tenure {
	if o.Slots == nil {
		o.Slots = []*slot{{lease: l, side: o.Side, n: o.N}}
	}
	tokens := l.Tokens()
	if l.Path() != o.Slots[0].lease.Path() || len(tokens) != len(o.Slots) || len(tokens) > 1 && l.Token() != 0 {
		th.brokenf("I2: thread %d was granted %v, and got %s, token %d, tokens %v", th.number, st, l.Path(), l.Token(), tokens)
	}
	var checks []func(isOver bool)
	for i, s := range o.Slots {
		if i < len(tokens) {
			s.token = int64(tokens[i])
		}
		check, _ := th.find(s)
		if !th.isInner(s, outer) {
			checks = append(checks, check)
		}
	}
	o.Inner = o.Slots[0].inner
	th.checkEntered(o.Slots[0], outer, st)
	th.checkClosed(o)
	t := th.granted(o, l, outer)
	for _, check := range checks {
		check(l.Err() != nil)
	}
	return t
}

// isInner tells whether a slot is one of the leases around it: re-entered, or
// downgraded.
func (th *thread) isInner(s *slot, outer *tenure) bool {
	for t := outer; t != nil; t = t.outer {
		for _, held := range t.op.Slots {
			switch {
			case held.token == s.token:
				s.inner, s.session = true, held.session
				return true
			case slices.Contains(th.subject.counted, s.lock): // permits are not re-entered
			case held.lock == s.lock && held.number == s.number && !errors.Is(held.lease.Err(), lease.ErrReleased):
				th.brokenf("errors: thread %d was granted another slot with the context of a lease that is %v", th.number, held.lease.Err())
			}
		}
	}
	return false
}

// find looks for the node of a slot that was granted just now, and returns what checks
// it when that is recorded, and whether there was a slot with that node before.
func (th *thread) find(s *slot) (check func(isOver bool), again bool) {
	info, ok := th.server.Node(s.lease.Path())
	s.session = info.EphemeralOwner
	again = th.recordSlot(s)
	return func(isOver bool) {
		switch {
		case !ok && isOver:
		case !ok && th.isEvicted(s.lease.Path()):
			th.checkEvicted(s)
		case !ok && th.anyExpired():
			th.excuse(s)
		case !ok:
			th.brokenf("I1: thread %d was granted a node that does not exist: %s", th.number, s.lease.Path())
		case info.Czxid != s.token:
			th.brokenf("I2: thread %d has token %d, its node %d", th.number, s.token, info.Czxid)
		case th.subject.blocked != nil && !s.ordered:
			th.mu.Lock()
			s.ordered = true
			th.mu.Unlock()
			th.checkOrder(s)
		}
	}, again
}

// recordSlot records a slot, once. It reports whether there was another one with its
// node.
func (r *record) recordSlot(s *slot) (again bool) {
	node := s.lease.Path()
	r.mu.Lock()
	known := slices.Contains(r.slots[node], s)
	if !known {
		r.slots[node] = append(r.slots[node], s)
	}
	again = r.slots[node][0] != s
	r.mu.Unlock()
	if !known {
		// A release after a loss changes the error, and its context has that of others.
		hold.OnEnd(s.lease, func() {
			err := s.lease.Err()
			s.lost.Store(errors.Is(err, lease.ErrLost) && !errors.Is(err, lease.ErrMemberLost)) // then others may have the hold still
		})
	}
	return again
}

// lookAtSlotsLocked checks that the slots of a lease end with it. Both ends may be seen
// one after the other, but at the same time.
func (r *record) lookAtSlotsLocked(t *tenure) {
	if len(t.op.Slots) < 2 {
		return
	}
	now := time.Since(r.began)
	for _, s := range t.op.Slots {
		if !s.over && s.lease.Err() != nil {
			s.over, s.overAt = true, now
		}
		switch {
		case s.over && s.overAt < now && t.over == 0:
			r.brokenLocked("I1: lease %d is valid, and its slot with token %d is over", t.op.Lease, s.token)
		case t.over != 0 && t.overAt < now && !s.over:
			r.brokenLocked("I1: lease %d is over, and its slot with token %d is not", t.op.Lease, s.token)
		}
	}
}

// opsLocked returns the acquire of a lease and its end. If a slot was ended by force,
// it may have been over from then on without knowing it, also before the others were
// granted: so it has ops of its own. A re-entry after that is left out.
func (r *record) opsLocked(t *tenure) (ops []op) {
	add := func(end int64, slots ...*slot) {
		from, to := t.op, t.op
		from.Slots, to.Slots = slots, slots
		to.What, to.Err = opEnd, t.lease.Err()
		to.Call, to.CallAt, to.Return, to.ReturnAt = min(t.valid, end), t.validAt, t.over, t.overAt
		if t.over == 0 {
			to.Return = never
		}
		ops = append(ops, from, to)
	}
	var whole []*slot
	for _, s := range t.op.Slots {
		switch forced, ok := r.forcedLocked(s); {
		case s.excused:
			add(t.op.Call, s)
		case ok && s.inner && forced < t.op.Call:
		case ok:
			add(forced, s)
		default:
			whole = append(whole, s)
		}
	}
	if len(whole) > 0 {
		add(t.valid, whole...)
	}
	return ops
}
