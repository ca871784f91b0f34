package queue

import "context"

// AwaitFront waits until the position belongs to the front of the crowd. Permits do so
// at once. A position that has come there stays, and keeps what it knows, even if
// others come ahead of it: their create may be answered later, in another session.
func (p *Position) AwaitFront(ctx context.Context) error {
	if p.queue.HandsOver == nil || p.front || !p.view.crowd.staysBehind(p) {
		p.front = true
		return nil
	}
	p.standBack()
	defer p.takePart()
	p.measureBehind()
	for p.view.crowd.staysBehind(p) {
		if closed(p.session.Done()) {
			return p.session.Err()
		}
		select {
		case <-p.wake: // also when the session ends
		case <-ctx.Done():
			p.recordBehind()
			return context.Cause(ctx)
		}
	}
	p.front = true
	p.seen.Notify()
	return nil
}

// standBack takes back that the position wants a listing, as it does since its create
// was sent, and drops all that it knows.
func (p *Position) standBack() {
	p.view.mu.Lock()
	defer p.view.unlock()
	delete(p.view.wanting, p)
	p.awaiting = nil
	all := p.view.all
	all.awaitEnd.Do(func() { p.session.Go(all.wakeAtEnd) })
}

// takePart is called when the position comes to the front, or its wait has ended. The
// listing may be older than that, so from now on it is not admitted without a watch on
// its node.
func (p *Position) takePart() {
	p.view.mu.Lock()
	defer p.view.unlock()
	p.awaiting = &awaiting{stoodBehind: true}
}

// recordBehind is record for a position that knows nothing itself: by what others of
// the crowd know.
func (p *Position) recordBehind() {
	n, v := p.view.crowd.ahead(p)
	head := ""
	if v != nil {
		v.mu.Lock()
		if len(v.names) > 0 {
			head = v.names[0].Node
		}
		v.mu.Unlock()
	}
	p.seen.record(p.queue.Path, n, head)
}

// measureBehind has observers told how many are ahead when the position joins: when it
// comes to the front they are few.
func (p *Position) measureBehind() {
	if p.seen.Measured != nil {
		n, _ := p.view.crowd.ahead(p)
		p.seen.measure(n)
	}
}

// wakeAtEnd wakes those that stand behind the front when the session ends. To wait for
// that themselves would cost each a part of its memory.
func (all *views) wakeAtEnd(ctx context.Context) {
	<-ctx.Done()
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, v := range all.all {
		v.crowd.wakeBehind()
	}
}

// wakeBehind wakes those behind the front, of all sessions: they look themselves.
func (c *crowd) wakeBehind() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.behind {
		p.notify()
	}
}
