package framework

import (
	"context"
	"sync"
	"time"
)

// parting is how Close takes leave of those who hold something in a session: it tells
// all of them first, waits for them if it is asked to, and only then ends the session,
// which gives what they hold to others.
type parting struct {
	mu     sync.Mutex
	begun  bool
	next   int
	tell   map[int]func() // of each who holds something
	nobody chan struct{}  // closed when there is none of them any more; nil until begun
}

// enter adds somebody who holds something. If the parting has begun he is told at once,
// and not waited for.
func (p *parting) enter(tell func()) (leave func()) {
	p.mu.Lock()
	if p.begun {
		p.mu.Unlock()
		tell()
		return func() {}
	}
	defer p.mu.Unlock()
	if p.tell == nil {
		p.tell = map[int]func(){}
	}
	number := p.next
	p.next++
	p.tell[number] = tell
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.tell, number)
		p.look()
	}
}

func (p *parting) look() {
	if p.begun && len(p.tell) == 0 && p.nobody != nil {
		close(p.nobody)
		p.nobody = nil
	}
}

// begin tells all, and returns a channel that is closed when they have left.
func (p *parting) begin() <-chan struct{} {
	nobody := make(chan struct{})
	p.mu.Lock()
	p.begun, p.nobody = true, nobody
	all := make([]func(), 0, len(p.tell))
	for _, tell := range p.tell {
		all = append(all, tell)
	}
	p.look()
	p.mu.Unlock()
	for _, tell := range all {
		tell()
	}
	return nobody
}

// GoHolding is Go for the goroutine that looks after something that is held in the
// session, such as the place of a lease: Client.Close calls end before it closes the
// session, which would give it to others, and waits for f to return for as long as
// Config.CloseGrace. If Close has begun, end is called before GoHolding returns. It must
// not block.
func (s *Session) GoHolding(end func(), f func(ctx context.Context)) bool {
	leave := s.parting.enter(end)
	started := s.Go(func(ctx context.Context) {
		defer leave()
		f(ctx)
	})
	if !started {
		leave()
	}
	return started
}

// part ends all that is held in the session, and gives it some time to be given up. What
// looks after it ends with the session, and so does the wait for that.
func (s *Session) part(grace time.Duration) {
	nobody := s.parting.begin()
	if grace == 0 {
		return
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-nobody:
	case <-timer.C:
	}
}
