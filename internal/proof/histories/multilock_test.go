package histories

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/retry"
)

// The sides of a multi-lock and its locks. The path of the second lock is that of the
// first and what sibling says.
const (
	both    = "both"
	first   = "first"
	second  = "second"
	sibling = "-2"
)

// foreignOrder bounds how long a step waits for a lock while it may hold the other one.
// Without that, two threads that take them in different orders wait for ever.
const foreignOrder = 3 * time.Second

// covers tells whether a lease on a side owns all locks of another.
func covers(side, other string) bool { return side == both || side == other }

// severalSubject is a multi-lock on two mutexes, which are also acquired alone and one
// inside the other.
func severalSubject() *subject {
	return &subject{
		name: "multi-lock", model: severalModel, nests: true, queues: []string{"", sibling}, names: znode.Locks,
		open: func(c *framework.Client, th *thread) player {
			p := several{thread: th, locks: []*member{
				{Acquirer: must(mutex.New(c, path, mutex.WithMaxHold(th.scenario.MaxHold))), thread: th},
				{Acquirer: must(mutex.New(c, path+sibling, mutex.WithMaxHold(th.scenario.MaxHold))), thread: th, lock: 1},
			}}
			// They are given in the order in which they are not acquired.
			given := []lease.Acquirer{p.locks[1], p.locks[0]}
			if th.scenario.isBare() { // then they can be taken in one transaction
				given, p.bare = []lease.Acquirer{p.locks[1].Acquirer, p.locks[0].Acquirer}, true
			}
			all := must(multilock.New(given, multilock.WithWaitLimit(retry.Constant(400*time.Millisecond+300*time.Microsecond))))
			p.plain = plain{first: p.locks[0], second: p.locks[1], both: all}
			return p
		},
		excludes: always,
		choose: func(d die, st, outer *Step) {
			st.Side = []string{both, both, both, first, second}[d.IntN(5)]
			// A step may wait for ever inside one that does, and that covers it: it
			// re-enters, or nothing is held any more.
			if outer != nil && st.Wait == lease.Forever && (outer.Wait != lease.Forever || !covers(outer.Side, st.Side)) {
				st.Wait = d.upTo(foreignOrder)
			}
		},
		blocked: func(_ Scenario, ahead []znode.Name, _ znode.Name) bool { return len(ahead) > 0 },
		// With room for one node, each lock needs a session of its own, also one that
		// was given up and whose node is not deleted yet.
		allowed: func(s Scenario, _ *tenure, _ Step, err error) bool {
			return s.Room > 0 && errors.Is(err, framework.ErrTooManyEphemerals)
		},
	}
}

// several is a multi-lock and its locks, as a thread uses them in one step.
type several struct {
	plain
	*thread
	locks []*member
	bare  bool // the multi-lock has the locks themselves, so that a grant of one is not seen
}

// A member is one of the locks.
type member struct {
	lease.Acquirer
	*thread
	lock   int
	slot   *slot // granted last
	grants int
}

// Acquire checks what was granted at that moment, which may be long before the grant of
// the multi-lock.
func (m *member) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	l, err := m.Acquirer.Acquire(ctx, timeout)
	if m.slot = nil; err != nil {
		return l, err
	}
	m.grants++
	m.slot = &slot{lock: m.lock, lease: l, token: int64(l.Token())}
	if check, again := m.find(m.slot); !again {
		check(l.Err() != nil)
	}
	return l, nil
}

// slots are what the locks have granted.
func (p several) slots(l *lease.Lease, st Step) (slots []*slot) {
	if st.Side == both && p.locks[0].grants > 1 {
		p.restarts.Add(1)
	}
	if l == nil {
		return nil
	}
	if p.bare && st.Side == both {
		return p.parts(l)
	}
	for i := len(p.locks) - 1; i >= 0; i-- {
		switch held := p.locks[i].slot; {
		case !covers(st.Side, []string{first, second}[i]):
		case held == nil:
			p.brokenf("I1: thread %d was granted %v without lock %d", p.number, st, i)
		default:
			slots = append(slots, held)
		}
	}
	return slots
}

// isBare tells whether a multi-lock has the locks themselves.
func (s Scenario) isBare() bool { return s.Recipe == severalSubject().name && s.Seed%2 == 0 }

// parts are the slots of a lease on both locks, by what its context owns.
func (p several) parts(l *lease.Lease) (slots []*slot) {
	for part := range hold.Leases(l.Context()) {
		lock := 0
		if strings.HasPrefix(part.Path(), path+sibling+"/") {
			lock = 1
		}
		slots = append(slots, &slot{lock: lock, lease: part, token: int64(part.Token())})
		if len(slots) == 2 {
			break
		}
	}
	slices.SortFunc(slots, func(a, b *slot) int { return b.lock - a.lock })
	return slots
}

func TestMultiLock(t *testing.T) {
	n := exploreAlone(t, "multi-lock")
	require.True(t, n.restarts > n.runs/10 || n.failed > 0 || n.runs < 100, "too few multi-locks began again")
}
