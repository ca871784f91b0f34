package conformance

import (
	"fmt"
	"slices"
	"sync"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Referee watches the leases of one recipe on one path.
type Referee struct {
	// Places is how many leases may be valid at once, 0 for any number.
	Places int
	// Weight tells how many of them a lease takes; nil is 1 for each.
	Weight func(*lease.Lease) int
	// Excuse tells which leases may be over without knowing it. It may be nil.
	Excuse func(*lease.Lease) bool
	// Shares tells which leases only exclude those that do not share, as readers do.
	// nil means that there are none such. If it is set, any number of leases may be
	// valid together if all of them share, and if not only those of one place: a
	// writer's and those of the reader that it has become, which have its token and are
	// of the same who. Places is 0 then.
	Shares func(*lease.Lease) bool

	mu      sync.Mutex
	granted []*watched
	last    lease.Token
	faults  []string
}

type watched struct {
	who    string
	lease  *lease.Lease
	shares bool
	over   bool // was seen to be over
}

func (w *watched) String() string { return fmt.Sprintf("%s with token %d", w.who, w.lease.Token()) }

// excludes reports whether two leases may not be valid at the same time, given that
// some share.
func (w *watched) excludes(other *watched) bool {
	samePlace := w.who == other.who && w.lease.Token() == other.lease.Token()
	together := w.shares && other.shares
	return !samePlace && !together
}

// Grant notes a lease that was granted just now and looks at all others.
func (r *Referee) Grant(who string, l *lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Places == 1 && l.Token() <= r.last {
		r.faultf("%s got token %d, after token %d had been granted", who, l.Token(), r.last)
	}
	r.last = max(r.last, l.Token())
	granted := &watched{who: who, lease: l}
	if r.Shares != nil {
		granted.shares = r.Shares(l)
		r.compare(granted)
	}
	r.granted = append(r.granted, granted)
	r.look()
}

// compare looks whether a token is greater than those of all leases that were granted
// before and are excluded by it.
func (r *Referee) compare(granted *watched) {
	for _, w := range r.granted {
		if w.excludes(granted) && granted.lease.Token() <= w.lease.Token() {
			r.faultf("%v was granted after %v, which it excludes", granted, w)
		}
	}
}

// Look looks at all leases.
func (r *Referee) Look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look()
}

// Valid looks at all leases, and returns how many are valid.
func (r *Referee) Valid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look()
}

func (r *Referee) look() int {
	var valid []*watched
	weight := 0
	for _, w := range r.granted {
		switch err := w.lease.Err(); {
		case err != nil:
			w.over = true
		case w.over:
			r.faultf("the lease %d of %s was over and is valid again", w.lease.Token(), w.who)
		case r.Excuse != nil && r.Excuse(w.lease):
		default:
			valid = append(valid, w)
			if weight++; r.Weight != nil {
				weight += r.Weight(w.lease) - 1
			}
		}
	}
	for i, w := range valid {
		for _, other := range valid[:i] {
			if r.Shares != nil && w.excludes(other) {
				r.faultf("%v and %v are valid at once", other, w)
			}
		}
	}
	if r.Places > 0 && weight > r.Places {
		r.faultf("%d of %d places taken at once: %v", weight, r.Places, valid)
	}
	return len(valid)
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

// Faults returns what was against the rules.
func (r *Referee) Faults() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.faults)
}
