package histories

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An op is one line of a history. It took effect at one moment, the same for all
// clients, between its Call and its Return. These numbers order the history, because in
// virtual time many ops have the same time.
type op struct {
	Thread int
	What   string // see below
	Side   string // as in Step
	N      int    // permits, or a size
	Lease  int    // numbers the leases from 1
	Token  int64  // 0 for several locks
	Inner  bool   // acquired with the context of a lease
	Slots  []*slot
	Err    error // if it failed

	Call, Return     int64
	CallAt, ReturnAt time.Duration // virtual
}

// The kinds of ops. The end of a lease is an op: its moment lies between the last time
// that the lease was seen valid and the first time that it was not.
const (
	opAcquire = "acquire"
	opEnd     = "end"
	opConfirm = "confirm"
	opResize  = "resize"
	opSize    = "size"
	opFree    = "free"
	opLook    = "look"
	opName    = "name"
)

// never is the Return of an op that may still take effect, or not at all.
const never = math.MaxInt64

// A tenure is a lease and the record of its end.
type tenure struct {
	op       op      // the acquire
	outer    *tenure // with the context of whose lease it was acquired
	lease    *lease.Lease
	released bool // it was released

	valid, over     int64 // when it was last seen valid and first seen over; 0 if never
	validAt, overAt time.Duration
}

// A record is the history of a run while it is made.
type record struct {
	mu      sync.Mutex
	began   time.Time
	seq     int64
	ops     []op
	tenures []*tenure
	broken  []string
	expired map[int64]int64  // sessions that were ended by force, and when
	evicted map[string]int64 // the same of nodes that an operator deletes
	written []*written
	commits int
	slots   map[string][]*slot // that were granted, by their nodes
}

func newRecord() *record {
	return &record{began: time.Now(), expired: map[int64]int64{}, evicted: map[string]int64{}, slots: map[string][]*slot{}}
}

func (r *record) nextLocked() (seq int64, at time.Duration) {
	r.seq++
	return r.seq, time.Since(r.began)
}

// brokenf records a broken invariant. The text begins with the invariant's name.
func (r *record) brokenf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.brokenLocked(format, args...)
}

func (r *record) brokenLocked(format string, args ...any) {
	r.broken = append(r.broken, fmt.Sprintf("%v: ", time.Since(r.began))+fmt.Sprintf(format, args...))
}

// call begins an op.
func (r *record) call(o op) op {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.Call, o.CallAt = r.nextLocked()
	return o
}

// returned ends an op and adds it to the history.
func (r *record) returned(o op) op {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.returnedLocked(o)
}

func (r *record) returnedLocked(o op) op {
	o.Return, o.ReturnAt = r.nextLocked()
	r.ops = append(r.ops, o)
	return o
}

// granted ends an acquire that succeeded, and checks all leases: those that are valid
// now were valid after the grant.
func (r *record) granted(o op, l *lease.Lease, outer *tenure) *tenure {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &tenure{lease: l, outer: outer}
	r.tenures = append(r.tenures, t)
	o.Lease, o.Token = len(r.tenures), int64(l.Token())
	t.op = r.returnedLocked(o)
	t.valid, t.validAt = t.op.Call, t.op.CallAt
	r.lookLocked()
	context.AfterFunc(l.Context(), r.look)
	return t
}

// look checks all leases.
func (r *record) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lookLocked()
}

func (r *record) lookLocked() {
	for _, t := range r.tenures {
		switch err := t.lease.Err(); {
		case err == nil && t.over != 0:
			r.brokenLocked("I1: lease %d was over and is valid again", t.op.Lease)
			t.over = 0
		case err == nil:
			t.valid, t.validAt = r.nextLocked()
		case t.over == 0:
			t.over, t.overAt = r.nextLocked()
			if errors.Is(err, lease.ErrMemberLost) {
				r.brokenLocked("I1: lease %d was lost with another one, which shares a lock with it: %v", t.op.Lease, err)
			}
		}
		r.lookAtSlotsLocked(t)
	}
}

// expire records that a session is ended by force.
func (r *record) expire(session int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.expired[session] == 0 {
		r.expired[session], _ = r.nextLocked()
	}
}

// excuse marks a slot whose session is unknown, because it was ended by force before
// the grant was recorded.
func (r *record) excuse(s *slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.excused = true
}

func (r *record) anyExpired() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.expired) > 0
}

// evict records that an operator deletes a node.
func (r *record) evict(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.evicted[node] == 0 {
		r.evicted[node], _ = r.nextLocked()
	}
}

func (r *record) isEvicted(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.evicted[node] != 0
}

// forcedLocked returns when the session or the node of a slot was ended by force.
func (r *record) forcedLocked(s *slot) (when int64, ok bool) {
	when, ok = r.expired[s.session]
	if node, too := r.evicted[s.lease.Path()]; too && (!ok || node < when) {
		return node, true
	}
	return when, ok
}

// history returns all ops, with the ends of the leases.
func (r *record) history() []op {
	r.mu.Lock()
	defer r.mu.Unlock()
	ops := slices.DeleteFunc(slices.Clone(r.ops), func(o op) bool { return o.What == opAcquire && o.Lease > 0 })
	for _, t := range r.tenures {
		ops = append(ops, r.opsLocked(t)...)
	}
	return ops
}

// counts returns how many leases were granted and how many of them were lost.
func (r *record) counts() (grants, lost int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tenures {
		if errors.Is(t.lease.Context().Err(), context.Canceled) && errors.Is(context.Cause(t.lease.Context()), lease.ErrLost) {
			lost++
		}
	}
	return len(r.tenures), lost
}
