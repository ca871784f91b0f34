package inspect_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// stripesOf are those of the path, as a client sees them.
func stripesOf(t *testing.T, c *framework.Client, n int) *striped.Locks {
	t.Helper()
	l, err := striped.New(c, path, n, striped.WithHolder("me"))
	require.NoError(t, err)
	return l
}

// keyOf returns a key of a stripe.
func keyOf(l *striped.Locks, stripe int) string {
	for i := 0; ; i++ {
		if key := fmt.Sprint(i); l.Index(key) == stripe {
			return key
		}
	}
}

// ofStripes returns the queues of stripes with the stripe of each, and positions and
// states.
func ofStripes(s *inspect.Survey) []string {
	return statesBy(s, func(q inspect.Queue) any { return q.Stripe })
}

// statesBy returns positions and states in all queues, with what each queue is of.
func statesBy(s *inspect.Survey, of func(q inspect.Queue) any) (all []string) {
	for _, q := range s.Queues {
		for i, c := range q.Contenders {
			all = append(all, fmt.Sprint(q.Recipe, " ", of(q), ": ", i+1, " ", c.Kind, " ", c.State))
		}
	}
	return all
}

func TestSurveyOfStripes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := stripesOf(t, w.Client("a"), 20)
		two, last := w.Acquire(l.For(keyOf(l, 2))), w.Acquire(l.For(keyOf(l, 19)))
		waiting := w.Start(stripesOf(t, w.Client("b"), 20).For(keyOf(l, 2)), lease.Forever)
		c := w.Client("c")
		s := survey(t, c)
		require.True(t, s.Exists)
		require.Equal(t, []string{"stripe 2: 1 mutex held", "stripe 2: 2 mutex waiting", "stripe 19: 1 mutex held"}, ofStripes(s))
		require.Equal(t, &inspect.Stripes{Size: 20, Free: 18}, s.Stripes)
		require.Equal(t, two.Path(), s.Queues[0].Contenders[0].Path)
		require.Equal(t, "me", s.Queues[1].Contenders[0].Holder.Who)
		require.Nil(t, s.Permits)
		require.Empty(t, s.Others)

		require.NoError(t, two.Release())
		require.NoError(t, waiting.Granted().Release())
		require.NoError(t, last.Release())
		free := &inspect.Survey{Exists: true, Stripes: &inspect.Stripes{Size: 20, Free: 20}, Others: []string{}}
		require.Equal(t, free, survey(t, c))
		for _, stripe := range []int{2, 19} { // as the server does some time later
			require.NoError(t, c.Delete(t.Context(), l.Path(stripe), framework.AnyVersion))
		}
		require.Equal(t, free, survey(t, c))
	})
}

// Until the first of them is granted, and where the data are another program's.
func TestSurveyOfStripesOfUnknownNumber(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "stripe-0003/lock-0000000000", "stripe-1023/lock-0000000001", "stripe-1024", "stripe-3", "stripe-03x", "stripe-")
		for _, data := range []string{"", "0 stripes", "-4 stripes", "four stripes"} {
			_, err := c.Set(t.Context(), path, []byte(data), framework.AnyVersion)
			require.NoError(t, err)
			s := survey(t, c)
			require.Equal(t, []string{"stripe 3: 1 mutex held", "stripe 1023: 1 mutex held"}, ofStripes(s))
			require.Equal(t, &inspect.Stripes{}, s.Stripes)
			require.Equal(t, []string{"stripe-", "stripe-03x", "stripe-1024", "stripe-3"}, s.Others)
		}
	})
}

// Who waits at a stripe that there is no more gets ErrSizeMismatch, but is seen before.
func TestSurveyOfAStripeThatThereIsNoMore(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "stripe-0001/lock-0000000000", "stripe-0002/lock-0000000000")
		_, err := c.Set(t.Context(), path, znode.Stripes(2), framework.AnyVersion)
		require.NoError(t, err)
		s := survey(t, c)
		require.Equal(t, []string{"stripe 1: 1 mutex held", "stripe 2: 1 mutex held"}, ofStripes(s))
		require.Equal(t, &inspect.Stripes{Size: 2, Free: 1}, s.Stripes)
	})
}

// Other recipes refuse the path, and other clients may not.
func TestSurveyOfStripesAndALock(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "lock-0000000000", "stripe-0001/lock-0000000000", "stripe-0001/__WRIT__0000000001", "x")
		s := survey(t, c)
		require.Equal(t, []string{"lock 0: 1 mutex held", "stripe 1: 1 mutex held", "stripe 1: 2 writer waiting"}, ofStripes(s))
		require.Equal(t, []string{"x"}, s.Others)
	})
}

func TestWhatASurveyOfStripesCosts(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "stripe-0001/lock-0000000000", "stripe-0002/lock-0000000000", "stripe-0002/lock-0000000001")
		_, err := c.Set(t.Context(), path, znode.Stripes(500), framework.AnyVersion)
		require.NoError(t, err)
		asked := w.Requests(func() { survey(t, c) })
		require.Equal(t, map[zktest.Op]int{zktest.OpGetChildren2: 1 + 2, zktest.OpGetData: 1 + 3}, asked)
	})
}

// What comes and goes while a survey is under way.
func TestSurveyOfStripesThatChange(t *testing.T) {
	for name, tc := range map[string]struct {
		op     zktest.Op
		at     string
		change func(t *testing.T, c *framework.Client)
		want   inspect.Survey
	}{
		"a stripe goes before it is listed": {
			zktest.OpGetChildren2, path + "/stripe-0001",
			func(t *testing.T, c *framework.Client) {
				require.NoError(t, c.DeleteTree(t.Context(), path+"/stripe-0001"))
			},
			inspect.Survey{Exists: true, Stripes: &inspect.Stripes{Size: 3, Free: 3}, Others: []string{}},
		},
		"the path goes before the number is read": {
			zktest.OpGetData, path,
			func(t *testing.T, c *framework.Client) { require.NoError(t, c.DeleteTree(t.Context(), path)) },
			inspect.Survey{Exists: true, Stripes: &inspect.Stripes{}, Others: []string{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				c, other := w.Client("a"), w.Client("other")
				create(t, other, "stripe-0001/lock-0000000000")
				_, err := other.Set(t.Context(), path, znode.Stripes(3), framework.AnyVersion)
				require.NoError(t, err)
				w.Server.On(tc.op, tc.at).Client("a").Nth(1).Before().Delay(time.Second)
				time.AfterFunc(time.Second/2, func() { tc.change(t, other) })
				require.Equal(t, &tc.want, survey(t, c))
			})
		})
	}
}

func TestSurveyOfStripesThatFails(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "stripe-0001/lock-0000000000", "stripe-0002/lock-0000000000")
		_, err := c.Set(t.Context(), path, znode.Stripes(3), framework.AnyVersion)
		require.NoError(t, err)
		for op, n := range w.Requests(func() { survey(t, c) }) {
			for i := range n {
				rule := w.Server.On(op, path).Nth(i + 1).Before()
				rule.Fail(zktest.NoAuth)
				s, err := inspect.Path(t.Context(), c, path)
				require.ErrorIs(t, err, framework.ErrNoAuth, "%v %d", op, i+1)
				require.ErrorContains(t, err, path)
				require.Nil(t, s)
				rule.Remove()
			}
		}
	})
}
