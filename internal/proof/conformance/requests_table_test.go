package conformance_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func theMutex(c *framework.Client, path string) lease.Acquirer { return must(mutex.New(c, path)) }

func election(c *framework.Client, path string) lease.Acquirer { return must(leader.New(c, path)) }

func permits(n int, opts ...semaphore.Option) maker {
	return func(c *framework.Client, path string) lease.Acquirer { return must(semaphore.New(c, path, n, opts...)) }
}

// weight asks for three of ten permits.
func weight(opts ...semaphore.Option) maker {
	return func(c *framework.Client, path string) lease.Acquirer {
		return must(semaphore.New(c, path, 10, opts...)).Weight(3)
	}
}

// several is a lock on so many mutexes.
func several(n int) maker {
	return func(c *framework.Client, path string) lease.Acquirer {
		var locks []lease.Acquirer
		for i := range n {
			locks = append(locks, must(mutex.New(c, fmt.Sprint(path, i))))
		}
		return must(multilock.New(locks))
	}
}

// ofKey is one of sixteen stripes, ofAny any of them.
func ofKey(c *framework.Client, path string) lease.Acquirer {
	return must(striped.New(c, path, 16)).For("key")
}

func ofAny(c *framework.Client, path string) lease.Acquirer {
	return anyStripe{must(striped.New(c, path, 16))}
}

// queued are the recipes that grant by the position in the queue alone.
var queued = []maker{theMutex, election, write, read}

// each makes the cost of several recipes, which must be the same.
func each(of func(maker) func(*world) price, recipes ...maker) (all []func(*world) price) {
	for _, make := range recipes {
		all = append(all, of(make))
	}
	return all
}

// The names of clients, and how long they have waited, in a crowd.
var (
	alone  = []string{"a"}
	others = []string{"a", "b", "c", "d", "e", "f", "g"}
)

const long = time.Minute

func joins(slots int, clients []string) func(maker) func(*world) price {
	return func(m maker) func(*world) price { return join(m, slots, clients...) }
}

func handsOver(slots int, waited time.Duration, clients []string) func(maker) func(*world) price {
	return func(m maker) func(*world) price { return handOver(m, slots, waited, clients...) }
}

func fails(slots int) func(maker) func(*world) price {
	return func(m maker) func(*world) price { return try(m, slots) }
}

func givenUp(slots int) func(maker) func(*world) price {
	return func(m maker) func(*world) price { return cancelled(m, slots) }
}

var (
	three       = permits(3)
	threeSingle = permits(3, semaphore.WithSingleQueue())
)

// prices are the rows of the table. If a row has several costs, they are the same.
var prices = []struct {
	what string
	of   []func(*world) price
}{
	{"mutex, read or write lock, election: free, acquire and `Release`", each(free, queued...)},
	{"the same with `ReleaseAsync`", each(freeAsync, queued...)},
	{"the same, held for longer than 10 ms", each(held, queued...)},
	{"the same, the path does not exist", each(first, queued...)},
	{"the same, the servers have removed the path since it was last used", each(removed, queued...)},
	{"the same by `Acquire(ctx, 0)`", each(tryFree, queued...)},
	{"re-entry", each(again, append(queued, delayedQueued...)...)},
	{"write lock: downgrade, and release of both", []func(*world) price{downgrade}},
	{"mutex: 20 clients take turns, each cycle", []func(*world) price{turns(theMutex, 50*time.Millisecond)}},
	{"the same, and each waits for longer than T/2", []func(*world) price{turns(theMutex, conformance.SessionTimeout/12)}},
	{"mutex, write lock, election: `Acquire(ctx, 0)`, held by another", each(fails(1), theMutex, election, write, delayedMutex, delayedElection, delayedWrite)},
	{"mutex, election: join a queue of other clients", each(joins(1, others), theMutex, election, delayedMutex, delayedElection)},
	{"write lock: join a queue of other clients", each(joins(1, others), write, delayedWrite)},
	{"mutex, write lock, election: join a queue of the same client", each(joins(1, alone), append(delayedQueued[:3:3], theMutex, election, write)...)},
	{"mutex, election: wait and give up, that is join and leave", each(givenUp(1), theMutex, election, delayedMutex, delayedElection)},
	{"mutex, election: release, the next one is of another client", each(handsOver(1, soon, others), theMutex, election)},
	{"the same, and it has waited for longer than T/2", each(handsOver(1, long, others), theMutex, election)},
	{"write lock: release, the next one is of another client", each(handsOver(1, soon, others), write)},
	{"the same, and it has waited for longer than T/2", each(handsOver(1, long, others), write)},
	{"mutex, write lock, election: release, the next one is of the same client", each(handsOver(1, long, alone), theMutex, election, write)},
	{"election: `MakeNext`, no candidate between", []func(*world) price{makeNext(0)}},
	{"the same, 1 between, with what that does", []func(*world) price{makeNext(1)}},
	{"semaphore: free, acquire and release", each(free, three)},
	{"semaphore: three permits by `Weight(3)`", each(free, weight())},
	{"semaphore: the path does not exist", each(first, three)},
	{"semaphore: `Acquire(ctx, 0)`, no permit is free", each(fails(3), three, threeSingle, threeDelayed)},
	{"semaphore: join a queue of other clients", each(joins(3, others), three)},
	{"semaphore: release, the next one is of another client", each(handsOver(3, soon, others), three)},
	{"semaphore: release, the next one is of the same client", each(handsOver(3, soon, alone), three)},
	{"single queue: free, acquire and release, 1 or 3 permits", each(free, threeSingle, weight(semaphore.WithSingleQueue()))},
	{"single queue: the path does not exist", each(first, threeSingle)},
	{"single queue: join a queue of other clients", each(joins(3, others), threeSingle, threeDelayed)},
	{"single queue: release, the next one is of another client", each(handsOver(3, soon, others), threeSingle)},
	{"multi-lock of four mutexes: free, acquire and `Release`", each(free, several(4))},
	{"multi-lock of four mutexes: `Acquire(ctx, 0)`, held by another", each(fails(1), several(4))},
	{"16 stripes, `For(key)` or `AcquireAny`: free, acquire and `Release`", each(free, ofKey, ofAny)},
	{"the same, the first time with a value of `Locks`", each(anew, ofKey, ofAny)},
	{"the same, the path does not exist", each(first, ofKey, ofAny)},
	{"16 stripes, `For(key)`: `Acquire(ctx, 0)`, held by another", each(fails(1), ofKey)},
	{"16 stripes, `For(key)`: join a queue of other clients", each(joins(1, others), ofKey)},
	{"16 stripes: `AcquireAny(ctx, 0)`, all are free", each(tryFree, ofAny)},
	{"16 stripes: `AcquireAny(ctx, 0)`, all are held", each(fails(16), ofAny)},
	{"run of a job: `Do`, by nobody else", []func(*world) price{newRun}},
	{"the same, the run is recorded", []func(*world) price{oldRun}},
	{"run of a job: join a queue of other clients", each(joins(1, others), runs, delayedRuns)},
	{"mutex with a minimum hold time: free, acquire and `Release`", each(free, restedMutex)},
	{"lock-delay: mutex, read or write lock, election, stripe: free, acquire and `Release`", each(free, append(delayedQueued, delayedStripe)...)},
	{"the same with `ReleaseAsync`", each(freeAsync, append(delayedQueued, delayedStripe)...)},
	{"the same by `Acquire(ctx, 0)`", each(tryFree, append(delayedQueued, delayedStripe)...)},
	{"lock-delay: mutex, read or write lock, election: the first time in a session", each(inNewSession, delayedQueued...)},
	{"the same, the path does not exist", each(first, delayedQueued...)},
	{"the same, the servers have removed the node of the delay since it was last used", each(removed, delayedQueued...)},
	{"the same, they have removed the path as well", each(removedWithParent, delayedQueued...)},
	{"lock-delay: mutex: 20 clients take turns, each cycle", []func(*world) price{turns(delayedMutex, 50*time.Millisecond)}},
	{"the same, and each waits for longer than T/2", []func(*world) price{turns(delayedMutex, conformance.SessionTimeout/12)}},
	{"lock-delay: mutex, election: release, the next one is of another client", each(handsOver(1, soon, others), delayedMutex, delayedElection)},
	{"the same, if that has waited for longer than T", each(handsOver(1, long, others), delayedMutex, delayedElection)},
	{"lock-delay: write lock: release, the next one is of another client", each(handsOver(1, soon, others), delayedWrite)},
	{"lock-delay: mutex, election: release, the next one is of the same client", each(handsOver(1, soon, alone), delayedMutex, delayedElection)},
	{"lock-delay: single queue: free, acquire and release, 1 or 3 permits", each(free, threeDelayed, weight(semaphore.WithSingleQueue(), semaphore.WithLockDelay(delay)))},
	{"lock-delay: single queue: release, the next one is of another client", each(handsOver(3, soon, others), threeDelayed)},
	{"lock-delay: run of a job: `Do`, by nobody else", []func(*world) price{newDelayedRun}},
	{"lock-delay: mutex, write lock, election: wait for the delay after an unclean end, and hold for longer than 10 ms", each(unclean, delayedMutex, delayedWrite, delayedElection)},
	{"the same, but another client has seen that end, more than twice the delay ago", each(uncleanBefore, delayedMutex, delayedWrite, delayedElection)},
	{"each T: a session that holds nothing", []func(*world) price{idle(0, 0)}},
	{"each T: a session that holds 1 lock", []func(*world) price{idle(1, 0)}},
	{"each T: a session that holds 100 locks", []func(*world) price{idle(100, 0)}},
	{"each T: a session that waits once on a path", []func(*world) price{idle(0, 1)}},
	{"each T: a session that waits 100 times on a path", []func(*world) price{idle(0, 100)}},
}

// The table in docs/performance.md has what the server counts.
func TestRequestsAreAsDocumented(t *testing.T) {
	rows := []string{"| what | requests | transactions | which requests |", "|---|---|---|---|"}
	for _, row := range prices {
		var text string
		for i, of := range row.of {
			conformance.InWorld(t, func(t *testing.T, w *world) {
				p := of(w)
				next := fmt.Sprintf("| %s | %d | %d | %s |", row.what, conformance.Total(p.requests), p.transactions, p.list())
				require.True(t, i == 0 || next == text, "not the same for all:\n%s\n%s", text, next)
				text = next
			})
		}
		rows = append(rows, text)
	}
	right := strings.Join(rows, "\n")
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "performance.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n"+rows[0])
	require.True(t, found, "docs/performance.md must have this table:\n%s", right)
	table, _, _ = strings.Cut(rows[0]+table, "\n\n")
	for i, row := range strings.Split(table, "\n") {
		require.Less(t, i, len(rows), "docs/performance.md has a row too many: %s\nthe table is:\n%s", row, right)
		require.Equal(t, rows[i], row, "docs/performance.md, row %d of this table:\n%s", i-1, right)
	}
	require.Equal(t, right, table, "docs/performance.md has too few rows")
}

// words are how the table names requests, in its order.
var words = []struct {
	op   zktest.Op
	word string
}{
	{zktest.OpCreateContainer, "create container"}, {zktest.OpCreate, "create"}, {zktest.OpSetData, "set"},
	{zktest.OpGetChildren2, "list"}, {zktest.OpGetData, "read"}, {zktest.OpExists, "exists"}, {zktest.OpMulti, "multi"},
	{zktest.OpDelete, "delete"}, {zktest.OpSync, "sync"}, {zktest.OpPing, "ping"},
}

// list lists the requests.
func (p price) list() string {
	var all []string
	for _, w := range words {
		switch n := p.requests[w.op]; n {
		case 0:
		case 1:
			all = append(all, w.word)
		default:
			all = append(all, fmt.Sprintf("%d %s", n, w.word))
		}
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}
