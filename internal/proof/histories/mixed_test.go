package histories

import (
	"errors"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// mixedLocks is the name of the subject.
const mixedLocks = "mixed locks"

// The locks, in the order of their paths: a mutex, a read-write lock, a semaphore with
// a single queue, one in Curator's layout, a stripe, and an election. The path of each
// but the first is that of the first and a number.
const (
	aMutex = iota
	readWriteLock
	singleQueue
	curatorSemaphore
	aStripe
	anElection
)

// mixedSides are what steps acquire, by the letters of the locks: see mixedSubject.
// Some have locks in common that two of them may hold at once. Those of m, r, w and l
// can be acquired in one transaction.
var mixedSides = []string{
	"mwqskl", "rqs", "rqs", "rs", "rq", "mq", "wk", "sk", "mr", "mwl", "rl",
	"m", "r", "w", "q", "s", "k", "l",
}

// mixedSubject is multi-locks on locks of all kinds, each of which is also acquired
// alone.
func mixedSubject() *subject {
	at := []string{path, path + sibling, path + "-3", path + "-4", path + "-5", path + "-6"}
	below := func(lock int, dir string) string { return strings.TrimPrefix(at[lock], path) + dir }
	return &subject{
		name: mixedLocks, model: mixedModel, nests: true, names: znode.All,
		queues: []string{
			"", below(readWriteLock, ""), below(singleQueue, ""), below(anElection, ""), below(aStripe, "/"+znode.StripeDir(0)),
			below(curatorSemaphore, "/"+znode.QueueDir), below(curatorSemaphore, "/"+znode.PermitsDir),
		},
		open: func(c *framework.Client, th *thread) player {
			rw := must(rwlock.New(c, at[readWriteLock]))
			queue := must(semaphore.New(c, at[singleQueue], permits, semaphore.WithSingleQueue()))
			return newSeveral(th, map[rune]*member{
				'm': {kind: znode.Mutex, lock: aMutex, Acquirer: must(mutex.New(c, at[aMutex]))},
				'r': {kind: znode.Reader, lock: readWriteLock, side: read, Acquirer: rw.Read()},
				'w': {kind: znode.Writer, lock: readWriteLock, side: write, Acquirer: rw.Write()},
				'q': {kind: znode.Permits, lock: singleQueue, weight: queue.Weight},
				's': {kind: znode.Permit, lock: curatorSemaphore, weight: must(semaphore.New(c, at[curatorSemaphore], permits)).Weight},
				'k': {kind: znode.Mutex, lock: aStripe, Acquirer: must(striped.New(c, at[aStripe], 1)).For(oneKey)},
				'l': {kind: znode.Latch, lock: anElection, Acquirer: must(leader.New(c, at[anElection], leader.WithID(th.station.name)))},
			}, at)
		},
		excludes: func(a, b *slot) bool {
			return a.lock == readWriteLock && unlessBothRead(a, b) || a.lock != readWriteLock && a.n == 0
		},
		counted: []int{singleQueue, curatorSemaphore}, verifies: true,
		choose: func(d die, st, outer *Step) {
			st.Side, st.N = mixedSides[d.IntN(len(mixedSides))], 1+d.IntN(2)
			if outer == nil {
				return
			}
			// See severalSubject. Who holds permits does not re-enter them.
			if st.Side = strings.NewReplacer("q", "", "s", "").Replace(st.Side); st.Side == "" {
				st.Side = "r"
			}
			if st.Wait == lease.Forever && (outer.Wait != lease.Forever || !covers(outer.Side, st.Side)) {
				st.Wait = d.upTo(foreignOrder)
			}
		},
		blocked: func(s Scenario, ahead []znode.Name, own znode.Name) bool {
			switch own.Kind {
			case znode.Reader:
				return blockedReader(s, ahead, own)
			case znode.Permit: // others are ahead in no order
				return false
			case znode.Permits:
				return blockedPermits(permits, ahead, own)
			}
			return len(ahead) > 0
		},
		watch: headIsAdmittedFirst(at[curatorSemaphore]),
		allowed: func(s Scenario, outer *tenure, st Step, err error) bool {
			upgrades := false
			for t := outer; t != nil; t = t.outer {
				upgrades = upgrades || strings.Contains(t.op.Side, "r") && strings.Contains(st.Side, "w")
			}
			return upgrades && errors.Is(err, rwlock.ErrUpgrade) || s.Room > 0 && errors.Is(err, framework.ErrTooManyEphemerals)
		},
	}
}

// mixed is the state of the locks, of which each is used as its kind.
type mixed struct {
	exclusive [anElection + 1]exclusive
	counted   [anElection + 1]counted
	shared    shared
}

// mixedModel has an op take effect at one moment on all locks that it is on.
func mixedModel(int) porcupine.Model {
	var free mixed
	for lock := range free.counted {
		free.counted[lock].size = permits
	}
	return modelOf(free, func(s mixed, o op) (mixed, bool) {
		for _, on := range o.Slots {
			var ok bool
			alone := o
			alone.Token, alone.Inner, alone.Side, alone.N = on.token, on.inner, on.side, on.n
			switch {
			case on.lock == readWriteLock:
				s.shared, ok = s.shared.step(alone)
			case on.n > 0:
				s.counted[on.lock], ok = s.counted[on.lock].step(alone)
			default:
				s.exclusive[on.lock], ok = s.exclusive[on.lock].step(o.What, on.token, on.inner)
			}
			if !ok {
				return s, false
			}
		}
		return s, true
	}, func(a, b mixed) bool {
		return a.exclusive == b.exclusive && a.counted == b.counted && a.shared.equal(b.shared)
	})
}

func TestMixedLocks(t *testing.T) { exploreAlone(t, mixedLocks) }
