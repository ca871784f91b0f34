package shares

import (
	"cmp"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// known is what is known of the shares.
type known struct {
	mu    sync.Mutex
	all   []share
	clock uint64
}

// A share is what is known of one.
type share struct {
	users int    // calls that wait there, and leases
	busy  uint64 // when it was last not free for us; 0: never

	// What looks have shown.
	head  string             // the contender that was the first
	since time.Time          // since when
	moved [movesOn]time.Time // when it was another one than before, newest first
}

// A holder hangs if it has been the first for hangTime, while the first at another
// share was a new one in movesOn looks.
const (
	hangTime = time.Second
	movesOn  = 3
)

// choose returns the share that a call is to use, and counts the call: of those with
// the fewest users the one that was free the last time, or was not longest ago. So
// processes that have a share each keep to it, and others do not gather at one. A
// process begins with a share of its own.
func (s *known) choose(process int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i := range s.from(process) {
		if best < 0 || s.compare(i, best) < 0 {
			best = i
		}
	}
	s.all[best].users++
	return best
}

// order returns all shares as choose prefers them.
func (s *known) order(process int64) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedStableFunc(s.from(process), s.compare)
}

// from yields all shares, beginning with the one of a process.
func (s *known) from(process int64) iter.Seq[int] {
	return func(yield func(int) bool) {
		n := len(s.all)
		first := int(uint64(process) % uint64(n)) //nolint:gosec // any share will do
		for i := range n {
			if !yield((first + i) % n) {
				return
			}
		}
	}
}

func (s *known) compare(i, j int) int {
	a, b := s.all[i], s.all[j]
	return cmp.Or(cmp.Compare(a.users, b.users), cmp.Compare(a.busy, b.busy))
}

// use counts a user of a share.
func (s *known) use(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[i].users++
}

// leave ends that.
func (s *known) leave(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[i].users--
}

// wasBusy records that a share was not free.
func (s *known) wasBusy(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	s.all[i].busy = s.clock
}

// saw records what a look has shown.
func (s *known) saw(i int, contenders []znode.Name) {
	if len(contenders) == 0 {
		return
	}
	s.wasBusy(i)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := &s.all[i]; at.head != contenders[0].Node {
		copy(at.moved[1:], at.moved[:])
		at.head, at.since = contenders[0].Node, time.Now()
		at.moved[0] = at.since
	}
}

// better returns a share where others go on while the holder hangs at the one where a
// call waits: the one of these with the fewest users, which counts the call.
func (s *known) better(at int) (to int, some bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	here := s.all[at]
	if here.head == "" || time.Since(here.since) < hangTime {
		return 0, false
	}
	for i, there := range s.all {
		if there.moved[movesOn-1].After(here.since) && (!some || s.compare(i, to) < 0) {
			to, some = i, true
		}
	}
	if some {
		s.all[to].users++
	}
	return to, some
}
