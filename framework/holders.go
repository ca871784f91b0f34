package framework

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// holders are those who hold something in a session, such as a lock. Close ends all
// that they hold, waits for them if CloseGrace says so, and only then ends the session,
// which lets other clients have it.
type holders struct {
	mu   sync.Mutex
	ends map[*func()]struct{} // of each holder
	left *signal.Signal       // given when there is none any more; nil until Close begins
}

// add adds a holder. end must not block; if Close has begun it is called at once, and
// Close does not wait for this holder.
func (h *holders) add(end func()) (remove func()) {
	h.mu.Lock()
	if h.left != nil {
		h.mu.Unlock()
		end()
		return func() {}
	}
	defer h.mu.Unlock()
	if h.ends == nil {
		h.ends = map[*func()]struct{}{}
	}
	h.ends[&end] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.ends, &end)
		h.giveLeft()
	}
}

func (h *holders) giveLeft() {
	if h.left != nil && len(h.ends) == 0 {
		h.left.Give()
	}
}

// endAll ends all that is held, and returns a channel that is closed when all holders
// are removed.
func (h *holders) endAll() <-chan struct{} {
	h.mu.Lock()
	h.left = signal.New()
	left, ends := h.left.Done(), slices.Collect(maps.Keys(h.ends))
	h.giveLeft()
	h.mu.Unlock()
	for _, end := range ends {
		(*end)()
	}
	return left
}

// goHolding is Go for what looks after something that is held: Close calls end before
// it closes the session, or goHolding does if Close has begun.
func (s *Session) goHolding(end func(), f func(ctx context.Context)) bool {
	remove := s.holders.add(end)
	started := s.Go(func(ctx context.Context) {
		defer remove()
		f(ctx)
	})
	if !started {
		remove()
	}
	return started
}

// endHolds ends all that is held in the session, and waits at most for grace until it
// is released. Holds end with the session, and so does this wait.
func (s *Session) endHolds(grace time.Duration) {
	left := s.holders.endAll()
	if grace == 0 {
		return
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-left:
	case <-timer.C:
	}
}
