package queue

import (
	"context"
	"errors"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A trailingList is a listing that is sent right behind a create.
type trailingList struct {
	once   sync.Once
	sent   chan struct{}
	cancel context.CancelFunc
	result chan listed
}

type listed struct {
	children []string // nil if not known
	err      error    // why not
}

// listBehind prepares the listing. start sends it; finish returns its result, or
// nothing if there is none or it is not wanted, and leaves nothing running.
func (p *place) listBehind(ctx context.Context) *trailingList {
	ctx, cancel := context.WithCancel(ctx)
	l := &trailingList{sent: make(chan struct{}), cancel: cancel, result: make(chan listed, 1)}
	go func() {
		select {
		case <-l.sent:
		case <-ctx.Done():
			l.result <- listed{}
			return
		}
		children, _, err := p.client.Children(ctx, p.queue.cfg.Path)
		if err != nil {
			children = nil
		}
		l.result <- listed{children, err}
	}()
	return l
}

func (l *trailingList) start() { l.once.Do(func() { close(l.sent) }) }

func (l *trailingList) finish(wanted bool) (children []string, err error) {
	defer l.cancel()
	if !wanted {
		l.cancel()
	}
	l.start() // a node that was found again was never seen being sent
	r := <-l.result
	return r.children, r.err
}

// withoutListing decides what becomes of a place that there is no listing for. If it is to
// be given up that is the error.
func (w *wait) withoutListing(why error) error {
	if errors.Is(why, framework.ErrReplyTooLarge) {
		return why // again
	}
	// The next step meets it again, unless the time is up.
	if request := w.failedRequest(why); request != nil {
		w.failed = request
	}
	return nil
}
