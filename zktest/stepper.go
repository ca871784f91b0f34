package zktest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// stepper makes the order of what happens a function of a seed. Whatever comes to the
// server from outside, a request or the end of a session's time, parks here first. When
// the whole program has come to rest, one of what is parked is picked by the seed and
// let go, and so on until nothing is parked; only then can virtual time move on. Things
// that happen at the same instant, which the runtime orders at random on purpose, thus
// get an order that repeats.
type stepper struct {
	settle func()
	done   <-chan struct{}
	rand   *rand.Rand

	mu     sync.Mutex
	moment int // grows whenever everything has come to rest
	parked []parked
	idle   []chan struct{} // closed when nothing is parked
	wake   chan struct{}   // 1 slot: something was parked
}

// parked is one event that waits to be let go.
type parked struct {
	key  string        // stable from run to run
	free chan struct{} // closed to let it go
	moot func() bool   // whether nothing would come of it, when all is at rest; nil for no
}

func newStepper(seed uint64, settle func(), done <-chan struct{}) *stepper {
	return &stepper{
		settle: settle, done: done, rand: rand.New(rand.NewPCG(seed, 0x7a6b74657374)), wake: make(chan struct{}, 1),
	}
}

// step parks an event until the stepper, if there is one, lets it go. It returns false
// if the server is closing.
func (s *Server) step(key string) bool { return s.stepUnless(nil, key) }

// stepUnless is step for an event that counts for nothing if it has become moot when
// all is at rest.
func (s *Server) stepUnless(moot func() bool, key string) bool {
	p := s.stepper
	if p == nil {
		return true
	}
	e := parked{key: key, free: make(chan struct{}), moot: moot}
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

// Settle waits until the whole program has come to rest with nothing left for the
// server to do at this instant. It is for servers made with [WithStepper], inside whose
// bubble nobody else may call synctest.Wait; for others it returns at once.
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
		for p.settle(); p.letOne(); p.settle() {
		}
	}
}

// letOne lets one parked event go, or all that are moot, and tells whether there was
// one.
func (p *stepper) letOne() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moment++
	moot := 0
	p.parked = slices.DeleteFunc(p.parked, func(e parked) bool {
		if e.moot == nil || !e.moot() {
			return false
		}
		close(e.free)
		moot++
		return true
	})
	if moot > 0 {
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

// choose returns a number below n that the seed picks. Everything must be at rest but
// the caller.
func (p *stepper) choose(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n == 1 {
		return 0
	}
	return p.rand.IntN(n)
}

// inTurn makes a frame to a client wait for a step of its own, unless it is the first
// to the client since everything was at rest and follows from what has happened since.
// Else two of the client's goroutines would wake up at once. waited says that it does
// not follow. It returns false if the server is closing.
func (c *conn) inTurn(waited bool) bool {
	p := c.server.stepper
	if p == nil {
		return true
	}
	p.mu.Lock()
	at := p.moment
	p.mu.Unlock()
	if (waited || c.told == at) && !c.server.stepUnless(c.ended, c.key+"<") {
		return false
	}
	p.mu.Lock()
	c.told = p.moment
	p.mu.Unlock()
	return true
}

// sessionKey names a session the same way in every run: ids are given in order.
func sessionKey(id int64) string { return fmt.Sprintf("~session%020d", id) }
