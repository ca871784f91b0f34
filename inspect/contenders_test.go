package inspect_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// heads surveys the path, and reads the first n contenders.
func heads(t *testing.T, c *framework.Client, n int) *inspect.Survey {
	t.Helper()
	s, err := inspect.Heads(t.Context(), c, path, n)
	require.NoError(t, err)
	return s
}

// byState returns the contenders of all queues that hold, and the others.
func byState(s *inspect.Survey) (holders, others []inspect.Contender) {
	holders, others = []inspect.Contender{}, []inspect.Contender{}
	for _, q := range s.Queues {
		for _, c := range q.Contenders {
			if c.State == inspect.Held {
				holders = append(holders, c)
			} else {
				others = append(others, c)
			}
		}
	}
	return holders, others
}

// counted returns a survey with numbers instead of contenders: of each queue by state.
func counted(s *inspect.Survey) inspect.Survey {
	numbers := *s
	numbers.Queues = nil
	for _, q := range s.Queues {
		n := map[inspect.State]int{}
		for state, more := range q.LeftOut {
			n[state] += more
		}
		for _, c := range q.Contenders {
			n[c.State]++
		}
		q.Contenders, q.LeftOut = nil, n
		numbers.Queues = append(numbers.Queues, q)
	}
	return numbers
}

// recipeOf returns the recipe whose queue it is.
func recipeOf(c *framework.Client, q inspect.Queue) interface {
	Contenders(ctx context.Context) ([]lease.Contender, error)
} {
	switch {
	case q.Recipe == inspect.Election:
		return must(leader.New(c, path))
	case q.Recipe == inspect.Stripe:
		return must(mutex.New(c, fmt.Sprintf("%s/stripe-%04d", path, q.Stripe)))
	case q.Recipe == inspect.Run:
		return must(mutex.New(c, path+"/"+q.Run+".key"))
	case q.Recipe == inspect.Lock:
		return must(mutex.New(c, path))
	case strings.HasPrefix(q.Contenders[0].Node, "permits-"):
		return must(semaphore.New(c, path, 0, semaphore.WithSingleQueue()))
	}
	return must(semaphore.New(c, path, 0))
}

// requireAsListed compares a queue with what its recipe lists.
func requireAsListed(t *testing.T, c *framework.Client, q inspect.Queue) {
	t.Helper()
	want, err := recipeOf(c, q).Contenders(t.Context())
	if q.Contenders[0].State == inspect.Unknown {
		require.ErrorIs(t, err, semaphore.ErrNoSize)
		return
	}
	require.NoError(t, err)
	var found []lease.Contender
	for _, c := range q.Contenders {
		found = append(found, c.Contender)
		require.Equal(t, c.Holding, c.State == inspect.Held)
	}
	require.Equal(t, want, found)
}

// requireAvailable compares the numbers of a semaphore with those of the recipe.
func requireAvailable(t *testing.T, c *framework.Client, s *inspect.Survey) {
	t.Helper()
	if s.Permits == nil || !s.Permits.SizeKnown {
		return
	}
	var layout []semaphore.Option
	for _, q := range s.Queues {
		if strings.HasPrefix(q.Contenders[0].Node, "permits-") {
			layout = []semaphore.Option{semaphore.WithSingleQueue()}
		}
	}
	of := must(semaphore.New(c, path, 0, layout...))
	require.Equal(t, &inspect.Permits{SizeKnown: true, Size: must(of.Size(t.Context())), Free: must(of.Available(t.Context()))}, s.Permits)
}

// Whatever is at a path, a survey has the queues as their recipes list them, and heads
// are the first ones of all, with the numbers of all.
func TestHeadsAreTheFirstOfAll(t *testing.T) {
	kinds := []string{
		"lock-", "__READ__", "__READ__", "__WRIT__", "latch-", "permits-1-", "permits-2-", "permits-3-", "locks/lock-", "leases/lease-",
		"stripe-0001/lock-", "stripe-0001/__READ__", "stripe-0002/lock-", "a.key/lock-", "b.key/__READ__", "other",
	}
	for seed := range uint64(60) {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			c, rnd := w.Client("a"), rand.New(rand.NewPCG(seed, 0))
			some := kinds[rnd.IntN(len(kinds)):]
			some = some[:rnd.IntN(len(some))+1]
			require.NoError(t, c.CreateParents(t.Context(), path+"/x"))
			for i := range rnd.IntN(30) {
				create(t, c, fmt.Sprintf("%s%010d", some[rnd.IntN(len(some))], i))
			}
			data := [][]byte{nil, znode.Size(0), znode.Size(1), znode.Size(4), znode.Size(100), znode.Stripes(2), []byte("0010")}[rnd.IntN(7)]
			_, err := c.Set(t.Context(), path, data, framework.AnyVersion)
			require.NoError(t, err)
			var all *inspect.Survey
			most := w.Requests(func() { all = survey(t, c) })
			for _, q := range all.Queues {
				requireAsListed(t, c, q)
			}
			requireAvailable(t, c, all)
			wantHolders, wantOthers := byState(all)
			for _, n := range []int{0, 1, 2, 5, 100} {
				var s *inspect.Survey
				asked := w.Requests(func() { s = heads(t, c, n) })
				holders, others := byState(s)
				firstHolders, firstOthers := wantHolders[:min(n, len(wantHolders))], wantOthers[:min(n, len(wantOthers))]
				require.Equal(t, firstHolders, holders, "seed %d, first %d", seed, n)
				require.Equal(t, firstOthers, others, "seed %d, first %d", seed, n)
				require.Equal(t, counted(all), counted(s), "seed %d, first %d", seed, n)
				unread := len(wantHolders) + len(wantOthers) - len(holders) - len(others)
				require.Equal(t, conformance.Total(most)-unread, conformance.Total(asked))
			}
		})
	}
}

// One sync, one listing, and reads of no more than are shown, however long a queue is.
func TestWhatHeadsOfALongQueueCost(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, c := w.Client("a"), w.Client("c", func(cfg *framework.Config) { cfg.MaxReplyBytes = 1 << 20 })
		for range 10_000 {
			foreign(t, a, path+"/lock-")
		}
		for _, n := range []int{0, 1, 10, 50} {
			want := map[zktest.Op]int{zktest.OpGetChildren2: 1}
			if n > 0 {
				want[zktest.OpGetData] = 1 + n
			}
			require.Equal(t, want, w.Requests(func() {
				s := heads(t, c, n)
				require.Equal(t, 9_999-n, s.Queues[0].LeftOut[inspect.Waiting])
			}))
			require.Equal(t, 1, w.Server.Count(zktest.OpSync))
		}
	})
}

// One sync is enough for all that is below the path.
func TestSurveyByAServerThatIsBehind(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		w.Server.Lag("a", true)
		create(t, other, "lock-0000000001", "permits-1-0000000002", "locks/lock-0000000003", "leases/lease-0000000004", "stripe-0001/lock-0000000005", "a.key/lock-0000000006")
		_, err := other.Set(t.Context(), path, znode.Size(5), framework.AnyVersion)
		require.NoError(t, err)
		behind, _, err := c.Exists(t.Context(), path)
		require.NoError(t, err)
		require.False(t, behind)
		s := survey(t, c)
		require.Len(t, s.Queues, 5)
		require.Equal(t, &inspect.Permits{SizeKnown: true, Size: 5, Free: 4}, s.Permits)
	})
}

// Those that have left are not among the first: others are read instead.
func TestHeadsOfThoseThatHaveNotLeft(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		for i := range 100 {
			create(t, other, fmt.Sprintf("lock-%010d", i))
		}
		w.Server.On(zktest.OpGetData, path).Client("a").Nth(1).Before().Delay(time.Second)
		time.AfterFunc(time.Second/2, func() {
			for i := range 60 {
				w.Remove(other, fmt.Sprintf("%s/lock-%010d", path, i))
			}
		})
		s := heads(t, c, 3)
		require.Len(t, s.Queues, 1)
		var nodes []string
		for _, c := range s.Queues[0].Contenders {
			nodes = append(nodes, c.Node+" "+string(c.State))
		}
		require.Equal(t, []string{"lock-0000000060 waiting", "lock-0000000061 waiting", "lock-0000000062 waiting"}, nodes, "none of them held then")
		require.Equal(t, map[inspect.State]int{inspect.Waiting: 37}, s.Queues[0].LeftOut)
		require.Equal(t, 60+3, w.Server.CountOf("a", zktest.OpGetData))
	})
}

// A stripe or a run of which nothing is read is in use.
func TestHeadsOfNoneAreInUse(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "stripe-0001/lock-0000000000", "a.key/lock-0000000000")
		_, err := c.Set(t.Context(), path, znode.Stripes(3), framework.AnyVersion)
		require.NoError(t, err)
		s := heads(t, c, 0)
		require.Equal(t, &inspect.Stripes{Size: 3, Free: 2}, s.Stripes)
		require.Equal(t, &inspect.Job{}, s.Job)
		held := map[inspect.State]int{inspect.Held: 1}
		require.Equal(t, []inspect.Queue{{Recipe: inspect.Stripe, Stripe: 1, LeftOut: held}, {Recipe: inspect.Run, Run: "a", LeftOut: held}}, s.Queues)
	})
}

func TestHeadsThatFail(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		_, err := inspect.Heads(t.Context(), c, path, -1)
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		require.ErrorContains(t, err, "the first -1")
		s, err := inspect.Heads(t.Context(), c, "/", 1)
		require.ErrorIs(t, err, framework.ErrInvalidPath)
		require.Nil(t, s)
		require.Equal(t, &inspect.Survey{}, heads(t, c, 1))
	})
}
