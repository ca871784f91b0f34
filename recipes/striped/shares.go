package striped

import (
	"cmp"
	"slices"
	"sync"
)

// shares is what a value knows of its stripes, for AcquireAny.
type shares struct {
	mu    sync.Mutex
	all   []share
	clock uint64
}

// A share is one of the stripes.
type share struct {
	users int    // calls that wait there, and leases
	busy  uint64 // when it was last not free for us; 0: never
}

// choose returns the share that a call is to use, and counts the call: of those with
// the fewest users the one that was free the last time, or was not longest ago. So
// processes that have a share each keep to it, and others do not gather at one. A
// process begins with a share of its own.
func (s *shares) choose(process int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.MinFunc(s.indices(process), s.compare)
	s.all[i].users++
	return i
}

// order returns all shares as choose prefers them, and how many of them, the first
// ones, have no users.
func (s *shares) order(process int64) (order []int, unused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order = s.indices(process)
	slices.SortStableFunc(order, s.compare)
	for unused < len(order) && s.all[order[unused]].users == 0 {
		unused++
	}
	return order, unused
}

// indices returns those of all shares, beginning with the one of a process.
func (s *shares) indices(process int64) []int {
	all := make([]int, len(s.all))
	first := uint64(process) % uint64(len(all)) //nolint:gosec // any share will do
	for i := range all {
		all[i] = (int(first) + i) % len(all) //nolint:gosec // less than MaxStripes
	}
	return all
}

func (s *shares) compare(i, j int) int {
	a, b := s.all[i], s.all[j]
	return cmp.Or(cmp.Compare(a.users, b.users), cmp.Compare(a.busy, b.busy))
}

// use counts a user of a share.
func (s *shares) use(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[i].users++
}

// leave ends that.
func (s *shares) leave(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[i].users--
}

// wasBusy records that a share was not free.
func (s *shares) wasBusy(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	s.all[i].busy = s.clock
}
