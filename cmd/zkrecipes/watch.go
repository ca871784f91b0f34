package main

import (
	"context"
	"fmt"
	"time"
)

// A look is one survey of a path, or why there is none.
type look struct {
	listing *listing
	err     error
	at      time.Time // it has ended
}

// A sight is what a watch knows.
type sight struct {
	last    look // the last one that was answered
	silent  bool // there was no answer since
	now     time.Time
	because error // of the silence; nil if a look has only not ended yet
}

// A watch looks at a path again and again. One look has ended before the next one
// begins, however long servers take.
type watch struct {
	interval time.Duration
	look     func(ctx context.Context) (*listing, error) // ends with ctx
	show     func(s sight) error
}

// leastSilence is how long a look takes at least before it is called unanswered: a slow
// answer is none that is missing.
const leastSilence = 2 * time.Second

// run watches until ctx ends, or a look fails for another reason than that no server
// answers; the first may not fail for that either.
func (w *watch) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	looks := make(chan look, 1)
	var began time.Time
	begin := func() {
		began = time.Now()
		go func() {
			l, err := w.look(ctx)
			looks <- look{l, err, time.Now()}
		}()
	}
	begin()
	pending := true
	defer func() {
		if cancel(); pending {
			<-looks
		}
	}()
	due := time.NewTicker(w.interval)
	defer due.Stop()
	var s sight
	for {
		select {
		case <-ctx.Done():
			return nil
		case ended := <-looks:
			pending = false
			switch {
			case ctx.Err() != nil:
				return nil
			case ended.err == nil:
				s = sight{last: ended}
			case s.last.listing == nil || !isUnanswered(ended.err):
				return ended.err
			default:
				s.silent, s.because = true, ended.err
			}
		case <-due.C:
			if !pending {
				begin()
				pending = true
				continue
			}
			if s.last.listing == nil || !s.silent && time.Since(began) < leastSilence {
				continue
			}
			s.silent = true
		}
		s.now = time.Now()
		if err := w.show(s); err != nil {
			return err
		}
	}
}

// isUnanswered reports whether a look may succeed later, because only servers are
// missing.
func isUnanswered(err error) bool {
	cause, _ := classify(err, exitConflict)
	return cause == causeUnreachable
}

// lsWatch shows a path until a signal ends it. The client lives on when its session is
// lost: it has no nodes, so any session will do.
func (p *program) lsWatch(f *lsFlags, path string, as format) error {
	ctx, stop := untilEnd()
	defer stop()
	cfg, chroot, err := f.config(p.auth)
	if err != nil {
		return err
	}
	limit := waitLimit{duration: f.timeout.value}.forConnect()
	client, err := connect(ctx, cfg, limit)
	if err != nil {
		return unlessOver(ctx, err)
	}
	defer client.Close()
	most := f.most(as, p.pageOf())
	w := &watch{interval: f.interval.value}
	w.look = func(ctx context.Context) (*listing, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, limit, unanswered("no answer within %v", limit))
		defer cancel()
		l, err := listingOf(ctx, client, path, chroot+path, most)
		if err != nil {
			return nil, fmt.Errorf("ls: %w", err)
		}
		return l, nil
	}
	return untilOver(ctx, flushLimit, func(ctx context.Context) error {
		show, end := p.viewer(f, path, as)
		defer end()
		w.show = show
		return w.run(ctx)
	})
}
