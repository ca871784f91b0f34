package shares

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// A search is how calls that wait, each at one share, find another one that has become
// free. One call at a time is to look: the one that has waited, or not
// looked, for longest. If it finds one, the next looks at once.
type search struct {
	mu      sync.Mutex
	waiting []*waiting
	looks   *waiting        // the one that is to look; nil: the timer will choose it
	timer   *time.Timer     // nil if there is no need
	number  uint64          // of that timer: one that was stopped may have fired
	last    time.Duration   // the last pause; 0 if no call waits
	pauses  *retry.Schedule // between looks that find nothing; nil: they begin anew
}

// A waiting is the wait of a call until it is to look.
type waiting struct{ interrupt context.CancelCauseFunc }

// shortestPause and longestPause bound the pauses, which grow. Where calls come all the
// time there are no more looks than one in shortPause.
const (
	shortestPause = 10 * time.Millisecond
	shortPause    = 100 * time.Millisecond
	longestPause  = 10 * time.Second
)

// errLook is the cause of a context that asks to look.
var errLook = errors.New("another share may be free")

// await waits with a context that ends with errLook when the call is to look. look says
// that it is, also if the wait has ended just then: it has to call looked or left.
func (s *search) await(ctx context.Context, wait func(ctx context.Context) error) (look bool, err error) {
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	w := &waiting{interrupt}
	s.enter(w)
	err = wait(ctx)
	return s.exit(w), err
}

func (s *search) enter(w *waiting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, w)
	s.arm(s.pause)
}

// exit reports whether the call is to look.
func (s *search) exit(w *waiting) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(other *waiting) bool { return other == w })
	if s.looks == w {
		return true
	}
	s.endIfIdle()
	return false
}

// looked is called by the one that was to look when it has done so. If it has found
// nothing it goes on waiting.
func (s *search) looked(found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks = nil
	if !found {
		s.arm(s.pause)
		return
	}
	s.pauses = nil
	s.arm(func() time.Duration { return 0 })
	s.endIfIdle()
}

// left is called by the one that was to look when its wait has ended before that.
func (s *search) left() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks = nil
	s.arm(s.pause)
	s.endIfIdle()
}

// endIfIdle ends the search if no call waits or looks.
func (s *search) endIfIdle() {
	if len(s.waiting) > 0 || s.looks != nil {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer, s.last, s.pauses = nil, 0, nil
}

// arm has the timer choose who is to look next, unless that is so already.
func (s *search) arm(pause func() time.Duration) {
	if s.timer == nil && s.looks == nil && len(s.waiting) > 0 {
		s.number++
		next, number := pause(), s.number
		s.timer, s.last = time.AfterFunc(next, func() { s.choose(number) }), next
	}
}

// hasten has the next looks be soon, because a call begins to wait, or a share is free
// as far as its last user knows. Pauses that are short stay as they are.
func (s *search) hasten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last <= shortPause {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer, s.pauses = nil, retry.Exponential(shortPause, longestPause).Start()
	s.arm(s.pause)
}

// pause returns the next pause.
func (s *search) pause() time.Duration {
	if s.pauses == nil {
		s.pauses = retry.Exponential(shortestPause, longestPause).Start()
	}
	next, _ := s.pauses.Next()
	return next
}

// choose interrupts the wait of the call that is to look, when a timer fires.
func (s *search) choose(number uint64) {
	s.mu.Lock()
	if s.timer == nil || s.number != number || len(s.waiting) == 0 {
		s.mu.Unlock()
		return
	}
	s.timer, s.looks = nil, s.waiting[0]
	chosen := s.looks
	s.mu.Unlock()
	chosen.interrupt(errLook)
}
