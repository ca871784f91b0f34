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

// The sides of a multi-lock and its locks: each letter is one of the locks. The path of
// the second lock is that of the first and what sibling says.
const (
	both    = "ab"
	first   = "a"
	second  = "b"
	sibling = "-2"
)

// foreignOrder bounds how long a step waits for a lock while it may hold the other one.
// Without that, two threads that take them in different orders wait for ever.
const foreignOrder = 3 * time.Second

// covers tells whether a lease on a side owns all locks of another. A writer may become
// a reader.
func covers(side, other string) bool {
	if strings.Contains(side, "w") {
		side += "r"
	}
	return strings.Trim(other, side) == ""
}

// severalSubject is a multi-lock on two mutexes, which are also acquired alone and one
// inside the other.
func severalSubject() *subject {
	return &subject{
		name: "multi-lock", model: severalModel, nests: true, queues: []string{"", sibling}, names: znode.Locks,
		open: func(c *framework.Client, th *thread) player {
			options := []mutex.Option{mutex.WithMaxHold(th.scenario.MaxHold), mutex.WithMinHold(th.scenario.MinHold), mutex.WithLockDelay(th.scenario.Delay)}
			return newSeveral(th, map[rune]*member{
				'a': {kind: znode.Mutex, Acquirer: must(mutex.New(c, path, options...))},
				'b': {kind: znode.Mutex, Acquirer: must(mutex.New(c, path+sibling, options...)), lock: 1},
			}, []string{path, path + sibling})
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

// several are locks, as a thread uses one of them, or a multi-lock on some, in one
// step.
type several struct {
	*thread
	locks map[rune]*member // by their letters
	at    []string         // the path of each lock
	bare  bool             // a multi-lock has the locks themselves, so that a grant of one is not seen
}

func newSeveral(th *thread, locks map[rune]*member, at []string) several {
	for _, m := range locks {
		m.thread = th
	}
	return several{thread: th, locks: locks, at: at, bare: th.scenario.isBare()}
}

// on are the locks of a side, in the order in which they are given to a multi-lock:
// that in which they are not acquired.
func (p several) on(side string) (all []*member) {
	for _, letter := range side {
		all = append(all, p.locks[letter])
	}
	slices.SortFunc(all, func(a, b *member) int { return b.lock - a.lock })
	return all
}

func (p several) acquire(ctx context.Context, st Step) (*lease.Lease, error) {
	var given []lease.Acquirer
	for _, m := range p.on(st.Side) {
		if m.weight != nil {
			m.Acquirer, m.n = m.weight(st.N), st.N
		}
		if p.bare { // then some can be taken in one transaction
			given = append(given, m.Acquirer)
		} else {
			given = append(given, m)
		}
	}
	if len(given) == 1 {
		return p.on(st.Side)[0].Acquire(ctx, st.Wait)
	}
	all := must(multilock.New(given, multilock.WithWaitLimit(retry.Constant(400*time.Millisecond+300*time.Microsecond))))
	return all.Acquire(ctx, st.Wait)
}

func (several) other(context.Context, *thread, Step) {}

// A member is one of the locks.
type member struct {
	lease.Acquirer
	weight func(n int) lease.Acquirer // of a semaphore
	*thread
	kind   string // of its node
	lock   int    // see slot
	side   string // see slot
	n      int    // see slot
	slot   *slot  // granted last
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
	m.slot = m.slotOf(l)
	if check, again := m.find(m.slot); !again && !m.isOfWriter(m.slot) {
		check(l.Err() != nil)
	}
	return l, nil
}

// isOfWriter tells whether a slot is that of a writer, which has become a reader.
func (th *thread) isOfWriter(s *slot) bool {
	th.mu.Lock()
	defer th.mu.Unlock()
	return slices.ContainsFunc(th.tenures, func(t *tenure) bool {
		return slices.ContainsFunc(t.op.Slots, func(other *slot) bool {
			return other.lock == s.lock && other.token == s.token && other.side != s.side
		})
	})
}

func (m *member) slotOf(l *lease.Lease) *slot {
	node := l.Path()[len(folder(l.Path()))+1:]
	if name, _ := znode.Parse(node, m.subject.names...); name.Kind != m.kind {
		m.brokenf("I1: thread %d was granted the node %s for lock %d, and not one of %s", m.number, node, m.lock, m.kind)
	}
	return &slot{lock: m.lock, side: m.side, n: m.n, lease: l, token: int64(l.Token())}
}

// slots are what the locks have granted.
func (p several) slots(l *lease.Lease, st Step) (slots []*slot) {
	on := p.on(st.Side)
	if len(on) > 1 && on[len(on)-1].grants > 1 {
		p.restarts.Add(1)
	}
	if l == nil {
		return nil
	}
	if p.bare && len(on) > 1 {
		return p.parts(l, on)
	}
	for _, m := range on {
		if m.slot == nil {
			p.brokenf("I1: thread %d was granted %v without lock %d", p.number, st, m.lock)
			continue
		}
		slots = append(slots, m.slot)
	}
	return slots
}

// isBare tells whether a multi-lock has the locks themselves.
func (s Scenario) isBare() bool {
	return (s.Recipe == "multi-lock" || s.Recipe == mixedLocks) && s.Seed%2 == 0
}

// parts are the slots of a lease on several locks, by what its context owns: that of
// the lock that was acquired last comes first.
func (p several) parts(l *lease.Lease, on []*member) (slots []*slot) {
	for part := range hold.Leases(l.Context()) {
		is := func(m *member) bool { return strings.HasPrefix(part.Path(), p.at[m.lock]+"/") }
		if i := slices.IndexFunc(on, is); i >= 0 {
			slots = append(slots, on[i].slotOf(part))
		}
		if len(slots) == len(on) {
			break
		}
	}
	slices.SortFunc(slots, func(a, b *slot) int { return b.lock - a.lock })
	return slots
}

// locksOf is how many locks a step acquires.
func (s *subject) locksOf(st Step) int {
	if s.name == "multi-lock" || s.name == mixedLocks {
		return len(st.Side)
	}
	return 1
}

func TestMultiLock(t *testing.T) {
	n := exploreAlone(t, "multi-lock")
	require.True(t, n.restarts > n.runs/10 || n.failed > 0 || n.runs < 100, "too few multi-locks began again")
}
