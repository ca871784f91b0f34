package inspect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// jobOf is that of the path, as a client sees it.
func jobOf(t *testing.T, c *framework.Client) *once.Job {
	t.Helper()
	j, err := once.New(c, path, once.WithHolder("me"))
	require.NoError(t, err)
	return j
}

// ofRuns returns the queues of runs with the run of each, and positions and states.
func ofRuns(s *inspect.Survey) []string {
	return statesBy(s, func(q inspect.Queue) any { return q.Run })
}

// persist makes a node that stays, with data.
func persist(t *testing.T, c *framework.Client, at string, data []byte) {
	t.Helper()
	require.NoError(t, c.CreateParents(t.Context(), at))
	_, err := c.Create(t.Context(), at, data, framework.Persistent)
	require.NoError(t, err)
}

func TestSurveyOfAJob(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		j, tick, long := jobOf(t, a), time.Date(2026, 11, 26, 3, 0, 0, 0, time.UTC), strings.Repeat("x", 100)
		require.Equal(t, &inspect.Survey{}, survey(t, c))
		first := w.Acquire(j.Key("customer 4711"))
		waiting := w.Start(jobOf(t, b).Key("customer 4711"), lease.Forever)
		second, third := w.Acquire(j.Tick(tick)), w.Acquire(j.Key(long))
		s := survey(t, c)
		require.Equal(t, []string{
			"run " + znode.KeyName(long) + ": 1 mutex held",
			"run 2026-11-26T03:00:00Z: 1 mutex held",
			"run customer 4711: 1 mutex held", "run customer 4711: 2 mutex waiting",
		}, ofRuns(s))
		require.Equal(t, &inspect.Job{}, s.Job, "there is no record yet")
		require.Equal(t, first.Path(), s.Queues[2].Contenders[0].Path)
		require.Equal(t, "me", s.Queues[2].Contenders[0].Holder.Who)
		require.Nil(t, s.Stripes)
		require.Empty(t, s.Others)

		require.NoError(t, j.Key("customer 4711").Record(t.Context(), first))
		require.NoError(t, j.Tick(tick).Record(t.Context(), second))
		w.Settle()
		require.ErrorIs(t, waiting.Failed(), once.ErrRecorded)
		for _, held := range []*lease.Lease{first, second, third} {
			require.NoError(t, held.Release())
		}
		s = survey(t, c)
		require.Equal(t, 2, s.Job.Records)
		require.Empty(t, s.Queues)
		require.Empty(t, s.Others)
	})
}

// They are listed some at a time.
func TestSurveyOfManyRuns(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for i := range 40 {
			create(t, c, fmt.Sprintf("%02d.key/lock-0000000000", i))
		}
		queues := survey(t, c).Queues
		require.Len(t, queues, 40)
		require.Equal(t, "39", queues[39].Run)
	})
}

// Up to which moment records were removed.
func TestSurveyOfAJobThatWasSwept(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, swept := w.Client("a"), time.Date(2026, 11, 25, 3, 0, 0, 5, time.UTC)
		persist(t, c, path+"/done", znode.Swept(swept))
		persist(t, c, path+"/done/a.key", nil)
		require.Equal(t, &inspect.Survey{Exists: true, Job: &inspect.Job{Records: 1, Swept: swept}, Others: []string{}}, survey(t, c))
	})
}

// Other programs may give their nodes the names of ours.
func TestSurveyOfNodesThatAreNamedLikeThoseOfAJob(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		persist(t, c, path+"/done", []byte("settings"))
		persist(t, c, path+"/tls.key", nil)
		create(t, c, "lock-0000000000")
		s := survey(t, c)
		require.Nil(t, s.Job)
		require.Equal(t, []string{"lock 1 mutex held"}, states(s))
		require.Equal(t, []string{"done", "tls.key"}, s.Others)

		create(t, c, "tls.key/lock-0000000000")
		s = survey(t, c)
		require.Equal(t, &inspect.Job{}, s.Job)
		require.Equal(t, []string{"lock : 1 mutex held", "run tls: 1 mutex held"}, ofRuns(s))
		require.Empty(t, s.Others)
	})
}

// What goes while a survey is under way.
func TestSurveyOfAJobThatChanges(t *testing.T) {
	for name, tc := range map[string]struct {
		op   zktest.Op
		gone string
		want *inspect.Job
	}{
		"a run goes before it is listed":      {zktest.OpGetChildren2, "/a.key", &inspect.Job{Records: 1}},
		"the records go before they are read": {zktest.OpGetData, "/done", nil},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				c, other := w.Client("a"), w.Client("other")
				persist(t, other, path+"/a.key", nil)
				persist(t, other, path+"/done/b.key", nil)
				w.Server.On(tc.op, path+tc.gone).Client("a").Nth(1).Before().Delay(time.Second)
				time.AfterFunc(time.Second/2, func() { _ = other.DeleteTree(t.Context(), path+tc.gone) })
				s := survey(t, c)
				require.Equal(t, tc.want, s.Job)
				require.Empty(t, s.Queues)
			})
		})
	}
}

func TestSurveyOfAJobThatFails(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "a.key/lock-0000000000", "b.key/lock-0000000000")
		persist(t, c, path+"/done", nil)
		asked := w.Requests(func() { survey(t, c) })
		require.Equal(t, map[zktest.Op]int{zktest.OpGetChildren2: 1 + 2, zktest.OpGetData: 1 + 2}, asked)
		for op, n := range asked {
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
