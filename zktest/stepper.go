package zktest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// stepper makes a seed decide the order of what happens. Whatever reaches the server, a
// request or the end of a session's time, waits here first. When the whole program is
// blocked, the seed picks one of the waiting events to go on, and so on until none is
// left. Only then can virtual time move on. So events of the same instant, which the
// runtime orders at random on purpose, get an order that repeats.
type stepper struct {
	wait func()
	done <-chan struct{}
	rand *rand.Rand

	mu     sync.Mutex
	moment int // grows whenever the whole program is blocked
	parked []parked
	idle   []chan struct{} // closed when no event waits
	wake   chan struct{}   // 1 slot: an event waits
}

// parked is one event that waits to go on.
type parked struct {
	key      string        // stable from run to run
	free     chan struct{} // closed to let it go on
	obsolete func() bool   // called when all is blocked: the event would have no effect; nil for no
}

func newStepper(seed uint64, wait func(), done <-chan struct{}) *stepper {
	return &stepper{
		wait: wait, done: done, rand: rand.New(rand.NewPCG(seed, 0x7a6b74657374)), wake: make(chan struct{}, 1),
	}
}

// step delays an event until the stepper, if there is one, lets it go on. It returns
// false if the server is closing.
func (s *Server) step(key string) bool { return s.stepUnless(nil, key) }

// stepUnless is step for an event that may have no effect any more when all is blocked.
// Such an event takes no step.
func (s *Server) stepUnless(obsolete func() bool, key string) bool {
	p := s.stepper
	if p == nil {
		return true
	}
	e := parked{key: key, free: make(chan struct{}), obsolete: obsolete}
	p.mu.Lock()
	p.parked = append(p.parked, e)
	p.mu.Unlock()
	return p.await(e.free)
}

// await wakes the stepper and waits for it. It returns false if the server is closing.
func (p *stepper) await(free <-chan struct{}) bool {
	select {
	case p.wake <- struct{}{}:
	default:
	}
	select {
	case <-free:
		return true
	case <-p.done:
		return false
	}
}

// Settle is for simulation. It waits until the whole program is blocked and the server
// has nothing left to do at this instant. Call it in place of synctest.Wait, which must
// not be called with [WithStepper]. Without a stepper it returns at once.
func (s *Server) Settle() {
	p := s.stepper
	if p == nil {
		return
	}
	idle := make(chan struct{})
	p.mu.Lock()
	p.idle = append(p.idle, idle)
	p.mu.Unlock()
	p.await(idle)
}

// run is the stepper's goroutine. It ends with the server.
func (p *stepper) run() {
	for {
		select {
		case <-p.wake:
		case <-p.done:
			return
		}
		for p.wait(); p.letOne(); p.wait() {
		}
	}
}

// letOne lets one waiting event go on, or all that are obsolete. It reports whether
// there was one.
func (p *stepper) letOne() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moment++
	obsolete := 0
	p.parked = slices.DeleteFunc(p.parked, func(e parked) bool {
		if e.obsolete == nil || !e.obsolete() {
			return false
		}
		close(e.free)
		obsolete++
		return true
	})
	if obsolete > 0 {
		return true
	}
	if len(p.parked) == 0 {
		for _, idle := range p.idle {
			close(idle)
		}
		p.idle = nil
		return false
	}
	slices.SortStableFunc(p.parked, func(a, b parked) int { return cmp.Compare(a.key, b.key) })
	i := 0
	if len(p.parked) > 1 {
		i = p.rand.IntN(len(p.parked))
	}
	close(p.parked[i].free)
	p.parked = slices.Delete(p.parked, i, i+1)
	return true
}

// choose returns a number below n that the seed picks. All goroutines but the caller
// must be blocked.
func (p *stepper) choose(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n == 1 {
		return 0
	}
	return p.rand.IntN(n)
}

// awaitStep makes a frame to a client wait for a step of its own, so that no two
// goroutines of the client wake up at once. The first frame since the whole program was
// blocked needs none, unless waited says that the frame does not follow from what
// happened since. It returns false if the server is closing.
func (c *conn) awaitStep(waited bool) bool {
	p := c.server.stepper
	if p == nil {
		return true
	}
	p.mu.Lock()
	at := p.moment
	p.mu.Unlock()
	if (waited || c.sentAt == at) && !c.server.stepUnless(c.ended, c.key+"<") {
		return false
	}
	p.mu.Lock()
	c.sentAt = p.moment
	p.mu.Unlock()
	return true
}

// sessionKey names a session for the stepper, the same in every run.
func sessionKey(id int64) string { return fmt.Sprintf("~session%020d", id) }
