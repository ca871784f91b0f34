package framework_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func few(cfg *framework.Config) { cfg.MaxEphemeralBytes = 200 }

// fill makes ephemeral nodes until no more are allowed.
func fill(t *testing.T, c *framework.Client, prefix string) (made []string) {
	t.Helper()
	for i := range 100 {
		path := fmt.Sprintf("/%s%02d", prefix, i)
		_, err := c.Create(t.Context(), path, nil, framework.Ephemeral)
		if err != nil {
			require.ErrorIs(t, err, framework.ErrTooManyEphemerals)
			require.Equal(t, framework.Failed, framework.OutcomeOf(err))
			require.Contains(t, err.Error(), path)
			require.NotEmpty(t, made)
			return made
		}
		made = append(made, path)
	}
	t.Fatal("no limit")
	return nil
}

// ZOOKEEPER-4306: a session whose end makes too large a record kills its servers.
func TestEphemeralNodesOfASessionAreLimited(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, few)
		made := fill(t, c, "n")
		total := 0
		for _, path := range made {
			total += len(path) + 4
		}
		assert.LessOrEqual(t, total, 200)
		assert.Greater(t, total, 150)

		_, err := c.Create(t.Context(), "/persistent", nil, framework.Persistent)
		require.NoError(t, err, "others are not")
		_, err = c.CreateProtected(t.Context(), "/p-", nil, framework.EphemeralSequential)
		require.ErrorIs(t, err, framework.ErrTooManyEphemerals)
		_, err = c.Multi(t.Context(), framework.CreateOp("/m", nil, framework.Ephemeral))
		require.ErrorIs(t, err, framework.ErrTooManyEphemerals)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))

		// Each way of deleting frees quota: the client's own, one in a transaction, and
		// one that finds that another client was faster.
		more := func() {
			t.Helper()
			_, err := c.Create(t.Context(), "/x00", nil, framework.Ephemeral)
			require.NoError(t, err)
			_, err = c.Create(t.Context(), "/x01", nil, framework.Ephemeral)
			require.ErrorIs(t, err, framework.ErrTooManyEphemerals)
			require.NoError(t, c.DeleteGuaranteed(t.Context(), "/x00"))
		}
		for _, path := range made[:3] {
			require.NoError(t, c.Delete(t.Context(), path, -1))
		}
		fill(t, c, "a")
		require.NoError(t, c.Delete(t.Context(), "/a00", -1))
		more()
		_, err = c.Create(t.Context(), "/x00", nil, framework.Ephemeral)
		require.NoError(t, err)
		_, err = c.Multi(t.Context(), framework.DeleteOp("/x00", -1))
		require.NoError(t, err)
		more()
		_, err = c.Create(t.Context(), "/x00", nil, framework.Ephemeral)
		require.NoError(t, err)
		require.NoError(t, connectAs(t, s, "other").Delete(t.Context(), "/x00", -1))
		require.ErrorIs(t, c.Delete(t.Context(), "/x00", -1), framework.ErrNoNode)
		more()
	})
}

func TestNextSessionHasALimitOfItsOwn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, few)
		made := fill(t, c, "n")
		s.ExpireSession(c.Session().ID())
		time.Sleep(2 * time.Second)
		assert.Equal(t, made, fill(t, c, "n"))
	})
}

// Creates that failed or were refused take no quota; nodes that turn out to exist do.
func TestQuotaOfEphemeralNodesIsAccountedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, few)
		for range 50 {
			_, err := c.Create(t.Context(), "/missing/node", nil, framework.Ephemeral)
			require.ErrorIs(t, err, framework.ErrNoNode)
			_, err = c.Multi(t.Context(), framework.CreateOp("/m", nil, framework.Ephemeral), framework.CheckOp("/missing", 0))
			require.ErrorIs(t, err, framework.ErrNoNode)
		}
		empty := fill(t, c, "n")
		for _, path := range empty {
			require.NoError(t, c.Delete(t.Context(), path, -1))
		}
		s.On(zktest.OpCreate, "/_c_").After().Cut()
		made, err := c.CreateProtected(t.Context(), "/p-", nil, framework.EphemeralSequential)
		require.NoError(t, err)
		assert.Less(t, len(fill(t, c, "n")), len(empty))
		require.NoError(t, c.Delete(t.Context(), made.Path, -1))
		_, err = c.Create(t.Context(), "/x", nil, framework.Ephemeral)
		require.NoError(t, err)
	})
}

func TestRequestsUnderWayAreLimited(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { cfg.MaxOutstanding = 3 })
		lost := []*zktest.Rule{}
		for i := range 3 {
			lost = append(lost, s.On(zktest.OpSetData, fmt.Sprintf("/lost%d", i)).DropReply())
			startErr(func() error { _, err := c.Set(t.Context(), fmt.Sprintf("/lost%d", i), nil, -1); return err })
		}
		synctest.Wait()
		for _, rule := range lost {
			<-rule.Fired()
		}
		_, err := c.Set(within(t, time.Second), "/node", nil, -1)
		require.ErrorIs(t, err, errStopped)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err), "it was never sent")
		assert.Contains(t, err.Error(), "set /node")
		waiting := startErr(func() error { return c.Delete(t.Context(), "/node", -1) })
		r := <-waiting // until the connection is given up because of the others
		require.ErrorIs(t, r.err, framework.ErrNoNode)
		assert.LessOrEqual(t, r.took, timeout)
		for _, e := range s.Trace() {
			assert.False(t, e.Op == zktest.OpSetData && e.Path == "/node")
		}
	})
}

// Callers that left still count until it is known what became of their requests.
func TestAbandonedRequestsCountUntilTheyEnd(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { cfg.MaxOutstanding = 2 })
		for range 2 {
			s.On(zktest.OpExists, "/a").DropReply()
		}
		for range 2 {
			_, _, err := c.Exists(within(t, 100*time.Millisecond), "/a")
			require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		}
		_, _, err := c.Exists(within(t, 100*time.Millisecond), "/b")
		require.ErrorIs(t, err, errStopped)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
		_, _, err = c.Exists(t.Context(), "/b")
		require.NoError(t, err)
	})
}
