package conformance

import (
	"fmt"
	"slices"
	"sync"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Referee checks the leases of one recipe on one path.
type Referee struct {
	// Slots is how many leases may be valid at once, 0 for any number.
	Slots int
	// Weight tells how many slots a lease takes; nil means 1 for each.
	Weight func(*lease.Lease) int
	// Excuse tells which leases need not count as valid although they say so. It may be
	// nil.
	Excuse func(*lease.Lease) bool
	// Shares tells which leases share, as those of readers do: any number of them may
	// be valid together. A lease that does not share may be valid only with leases of
	// the same slot: those have its token and its holder, as after a downgrade of a
	// writer to a reader. nil means that no lease shares. If Shares is set, Slots is 0.
	Shares func(*lease.Lease) bool
	// LockOf tells on which lock a lease is, if the recipe has several. Two leases on
	// one may not be valid at once, and only tokens of one are compared. nil means one
	// lock with Slots.
	LockOf func(*lease.Lease) string
	// Lingers tells of which leases the slot may not be granted yet, although they are
	// over: with a lock-delay, see Delays. It may be nil.
	Lingers func(*lease.Lease) bool

	mu      sync.Mutex
	granted []*watched
	last    map[string]lease.Token // by the lock
	faults  []string
}

type watched struct {
	who    string
	lease  *lease.Lease
	lock   string
	shares bool
	over   bool // its end has been seen

	lingers bool // its slot is still closed when it is over
}

func (w *watched) String() string {
	text := fmt.Sprintf("%s with token %d", w.who, w.lease.Token())
	if w.lingers {
		text += ", whose lock-delay is not over,"
	}
	return text
}

// excludes reports whether two leases may not be valid at the same time, if some leases
// share.
func (w *watched) excludes(other *watched) bool {
	sameSlot := w.who == other.who && w.lease.Token() == other.lease.Token()
	together := w.shares && other.shares
	return !sameSlot && !together
}

// Grant records a lease that was granted just now and checks all leases.
func (r *Referee) Grant(who string, l *lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	granted := &watched{who: who, lease: l}
	if r.LockOf != nil {
		granted.lock = r.LockOf(l)
	}
	if last := r.last[granted.lock]; (r.Slots == 1 || r.LockOf != nil) && l.Token() <= last {
		r.faultf("%s got token %d, after token %d had been granted", who, l.Token(), last)
	}
	if r.last == nil {
		r.last = map[string]lease.Token{}
	}
	r.last[granted.lock] = max(r.last[granted.lock], l.Token())
	if r.Shares != nil {
		granted.shares = r.Shares(l)
		r.compare(granted)
	}
	r.granted = append(r.granted, granted)
	r.look()
}

// compare checks that a token is greater than those of all earlier leases that its
// lease excludes.
func (r *Referee) compare(granted *watched) {
	for _, w := range r.granted {
		if w.excludes(granted) && granted.lease.Token() <= w.lease.Token() {
			r.faultf("%v was granted after %v, which it excludes", granted, w)
		}
	}
}

// Look checks all leases.
func (r *Referee) Look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look()
}

// Valid checks all leases, and returns how many are valid.
func (r *Referee) Valid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look()
}

func (r *Referee) look() (valid int) {
	var taken []*watched
	weight := 0
	for _, w := range r.granted {
		w.lingers = false
		switch err := w.lease.Err(); {
		case err == nil && w.over:
			r.faultf("the lease %d of %s was over and is valid again", w.lease.Token(), w.who)
			continue
		case err == nil && (r.Excuse == nil || !r.Excuse(w.lease)):
			valid++
		default:
			w.over = err != nil
			if w.lingers = r.Lingers != nil && r.Lingers(w.lease); !w.lingers {
				continue
			}
		}
		taken = append(taken, w)
		if weight++; r.Weight != nil {
			weight += r.Weight(w.lease) - 1
		}
	}
	for i, w := range taken {
		for _, other := range taken[:i] {
			if r.Shares != nil && w.excludes(other) || r.LockOf != nil && w.lock == other.lock {
				r.faultf("%v and %v are valid at once", other, w)
			}
		}
	}
	if r.Slots > 0 && weight > r.Slots {
		r.faultf("%d of %d slots taken at once: %v", weight, r.Slots, taken)
	}
	return valid
}

func (r *Referee) faultf(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// Tokens returns the tokens of all leases granted, in that order.
func (r *Referee) Tokens() []lease.Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	tokens := make([]lease.Token, len(r.granted))
	for i, w := range r.granted {
		tokens[i] = w.lease.Token()
	}
	return tokens
}

// Faults returns what broke the rules.
func (r *Referee) Faults() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.faults)
}
