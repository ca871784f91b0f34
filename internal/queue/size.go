package queue

import "context"

// size returns the size of the queue. It is asked for once, and again when it may
// have changed. A place that has to pass a door leaves the size to that.
func (p *place) size(ctx context.Context) (int, error) {
	if p.queue.cfg.Size == nil || p.wait.door != nil || p.sizeWatch != nil && p.sizeStands() {
		return p.sizeIs, nil
	}
	var err error
	p.sizeIs, _, err = p.queue.cfg.Size(ctx, p.client, Decide)
	return p.sizeIs, err
}

// watchSize asks for the size with a watch, if there is none, beside whatever the
// caller does meanwhile. At a door, too: who asks for more than there can ever be
// is told at once.
func (p *place) watchSize(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	if p.queue.cfg.Size == nil || p.sizeWatch != nil {
		done <- nil
		return done
	}
	go func() {
		var err error
		p.sizeIs, p.sizeWatch, err = p.queue.cfg.Size(ctx, p.client, Await)
		done <- err
	}()
	return done
}

// resized reports whether the size is not the one that a decision was made by.
func (p *place) resized(decidedBy int) bool { return p.wait.door == nil && p.sizeIs != decidedBy }

// sizeStands reports whether nothing is known of a change of the size. Whoever is
// woken by several events at once sees them in any order, so a change has to be
// looked for before the old size admits anybody.
func (p *place) sizeStands() bool {
	if p.sizeWatch == nil {
		return true
	}
	select {
	case <-p.sizeWatch.Events():
		p.sizeWatch = nil
		return false
	default:
		return true
	}
}
