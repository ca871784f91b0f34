package integration

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A stay is the time of one lease.
type stay struct {
	stayEvent       // that it was granted: At is when that was known
	valid     int64 // it was valid then; 0: not that anybody knows
	releases  bool  // its release has begun at least
}

// until is when its slot is free at the soonest. Nobody knows whether a release that
// was begun has taken effect, so there may be no delay then.
func (s *stay) until(delay time.Duration) int64 {
	if s.isUnclean() {
		return s.valid + delay.Nanoseconds()
	}
	return s.valid
}

// isUnclean reports whether a lease that was valid has ended, and was never released.
func (s *stay) isUnclean() bool { return !s.releases && s.valid != 0 }

// excludes reports whether a slot cannot be granted as long as that of s is taken,
// whatever others there are.
func (s *stay) excludes(next *stay) bool {
	return s.conflicts(next) && s.Weight+next.Weight > next.Permits
}

// conflicts reports whether s takes what next needs.
func (s *stay) conflicts(next *stay) bool { return !s.Shared || !next.Shared }

// stays are all leases of a test. Creates on several paths that travel in one group
// give leases with one token.
type stays struct {
	mu  sync.Mutex
	all map[stayKey]*stay
}

// A stayKey is that of one lease: a path and a token have no other.
type stayKey struct {
	path  string
	token int64
}

func (s *stays) add(e stayEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[stayKey]*stay{}
	}
	key := stayKey{e.Path, e.Token}
	switch e.What {
	case stayGranted:
		s.all[key] = &stay{stayEvent: e}
	case stayValid:
		s.all[key].valid = e.At
	case stayReleases:
		s.all[key].releases = true
	}
}

// A tally says what a check has seen.
type tally struct {
	grants, unclean int
	followed        int           // those of unclean whose slot was needed again
	least           time.Duration // by which it was granted later than it may be
}

// check checks that no slot was granted while others were taken, or closed by the
// delay. Tokens grow in the order of the queue, in which slots are granted.
func (s *stays) check(t *testing.T, delay time.Duration) tally {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	found := tally{grants: len(s.all), least: time.Hour}
	paths := map[string][]*stay{}
	byToken := func(a, b *stay) int { return cmp.Compare(a.Token, b.Token) }
	for _, next := range slices.SortedFunc(maps.Values(s.all), byToken) {
		earlier := paths[next.Path]
		taken := next.Weight
		for _, other := range earlier {
			if next.At < other.until(delay) && other.conflicts(next) {
				taken += other.Weight
				assert.LessOrEqual(t, taken, next.Permits, "%s: token %d was granted %v before the slot of %d is free, which was never released: %v",
					next.Path, next.Token, time.Duration(other.until(delay)-next.At), other.Token, other.isUnclean())
			}
		}
		paths[next.Path] = append(earlier, next)
	}
	for _, all := range paths {
		for i, s := range all {
			if !s.isUnclean() {
				continue
			}
			found.unclean++
			if n := slices.IndexFunc(all[i+1:], s.excludes); n >= 0 {
				found.followed++
				found.least = min(found.least, time.Duration(all[i+1+n].At-s.until(delay)))
			}
		}
	}
	return found
}
