package queue_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A youth is a holder, and those that join behind it: two of one session, and one of
// another.
type youth struct {
	w        *conformance.World
	operator *framework.Client
	held     *lease.Lease
	next     []*conformance.Attempt
	own      string // the node of the first of these
}

func (y *youth) release()      { go func() { _ = y.held.Release() }() }
func (y *youth) releaseAsync() { _ = y.held.ReleaseAsync() }
func (y *youth) givesUp()      { y.next[0].Cancel(nil) }
func (y *youth) breaks()       { y.w.Server.DropConnections("a") }
func (y *youth) deletes(nodes ...string) {
	for _, node := range nodes {
		y.w.Remove(y.operator, node)
	}
}

// A youthEvent is what happens while they are young, or just after that.
type youthEvent struct {
	name    string
	happens func(y *youth)
	takes   time.Duration // until those that remain know it, besides answers
	exposes bool          // the node of one that may be next is deleted: two may hold until it is looked at
}

func youthEvents() []youthEvent {
	const reconnected, isOld = 200 * time.Millisecond, 10 * time.Millisecond
	return []youthEvent{
		{name: "release", happens: func(y *youth) { y.release() }},
		{name: "release async", happens: func(y *youth) { y.releaseAsync() }},
		{name: "the holder is deleted", happens: func(y *youth) { y.deletes(y.held.Path()) }},
		{name: "the first gives up, then release", happens: func(y *youth) { y.givesUp(); y.release() }},
		{name: "release, then the first gives up", happens: func(y *youth) { y.release(); y.givesUp() }},
		{name: "the first is deleted, then release", happens: func(y *youth) { y.deletes(y.own); y.release() }, takes: isOld, exposes: true},
		{name: "both are deleted", happens: func(y *youth) { y.deletes(y.own, y.held.Path()) }, takes: isOld, exposes: true},
		{name: "release, and a break", happens: func(y *youth) { y.release(); y.breaks() }, takes: reconnected},
		{name: "release async, and a break", happens: func(y *youth) { y.releaseAsync(); y.breaks() }, takes: reconnected},
		{name: "a break, and release", happens: func(y *youth) { y.breaks(); y.w.Settle(); y.release() }, takes: reconnected},
	}
}

// Whatever frees a slot, or ends a wait, while those behind it have just joined: no two
// hold at a time, and nobody waits for longer than what is asked for is answered; but
// one whose node is deleted may find that out only when it is young no more.
func TestWhateverHappensToWaitersThatHaveJustJoined(t *testing.T) {
	for _, event := range youthEvents() {
		for at := time.Duration(0); at <= 12*time.Millisecond; at += 3 * time.Millisecond {
			for _, slow := range []time.Duration{0, 2500 * time.Microsecond} {
				for _, holder := range []string{"a", "b"} {
					t.Run(fmt.Sprintf("%s at %v, requests take %v, %s holds", event.name, at, slow, holder), func(t *testing.T) {
						conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
							y := newYouth(t, w, slow, holder)
							w.After(at)
							begin := time.Now()
							event.happens(y)
							y.holdInTurn(t, event.exposes)
							assert.LessOrEqual(t, time.Since(begin), event.takes+3*heldFor+9*slow)
							w.Server.SetFaults(nil)
						})
					})
				}
			}
		}
	}
}

func newYouth(t *testing.T, w *conformance.World, slow time.Duration, holder string) *youth {
	t.Helper()
	y := &youth{w: w, operator: w.Client("operator")}
	a, b := mutexOf(t, w.Client("a")), mutexOf(t, w.Client("b"))
	assert.NoError(t, w.Acquire(a).Release()) // it knows the parent
	y.held = w.Acquire(mutexOf(t, w.Named(holder)))
	w.After(100 * time.Millisecond) // it has set its watch
	w.Server.SetFaults(func(call zktest.Call) zktest.Action {
		if slow > 0 && call.Phase == zktest.PhaseBeforeApply && call.Client != "operator" {
			return zktest.Delay(slow)
		}
		return zktest.Pass
	})
	y.next = append(y.next, w.Start(a, lease.Forever))
	w.After(slow)
	y.own = without(w.Ephemerals(path), y.held.Path())
	y.next = append(y.next, w.Start(a, lease.Forever), w.Start(b, lease.Forever))
	return y
}

const heldFor = time.Millisecond

// holdInTurn has each hold for a while when it is granted, until all have.
func (y *youth) holdInTurn(t *testing.T, exposed bool) {
	t.Helper()
	var valid sync.Mutex // locked by who holds
	var group sync.WaitGroup
	for _, at := range y.next {
		group.Go(func() {
			<-at.Done()
			if at.Err != nil || at.Lease.Err() != nil {
				return
			}
			alone := exposed || assert.True(t, valid.TryLock(), "another one holds")
			pass(heldFor)
			if alone && !exposed {
				valid.Unlock() // the release may hand the slot over before it returns
			}
			_ = at.Lease.ReleaseAsync()
		})
	}
	group.Wait()
}
