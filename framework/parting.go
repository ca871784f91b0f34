package framework

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// parting is how Close takes leave of those who hold something in a session: it tells
// all of them first, waits for them if it is asked to, and only then ends the session,
// which gives what they hold to others.
type parting struct {
	mu     sync.Mutex
	tell   map[*func()]struct{} // of each who holds something
	nobody *signal.Signal       // given when there is none of them any more; nil until it begins
}

// enter adds somebody who holds something. If the parting has begun he is told at once,
// and not waited for.
func (p *parting) enter(tell func()) (leave func()) {
	p.mu.Lock()
	if p.nobody != nil {
		p.mu.Unlock()
		tell()
		return func() {}
	}
	defer p.mu.Unlock()
	if p.tell == nil {
		p.tell = map[*func()]struct{}{}
	}
	p.tell[&tell] = struct{}{}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.tell, &tell)
		p.look()
	}
}

func (p *parting) look() {
	if p.nobody != nil && len(p.tell) == 0 {
		p.nobody.Give()
	}
}

// begin tells all, and returns a channel that is closed when they have left.
func (p *parting) begin() <-chan struct{} {
	p.mu.Lock()
	p.nobody = signal.New()
	nobody, all := p.nobody.Done(), slices.Collect(maps.Keys(p.tell))
	p.look()
	p.mu.Unlock()
	for _, tell := range all {
		(*tell)()
	}
	return nobody
}

// goHolding is Go for what looks after something that is held: Close calls end before
// it closes the session, or goHolding does if Close has begun.
func (s *Session) goHolding(end func(), f func(ctx context.Context)) bool {
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

// part ends all that is held in the session, and gives it some time to be given up.
// What looks after it ends with the session, and so does the wait for that.
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
