package zkprom_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestRequestsByTheirOutcome(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.measured("a")
		create := func() error {
			_, err := c.Create(t.Context(), "/n", nil, framework.Persistent)
			return err
		}
		w.Server.On(zktest.OpCreate, "/n").After().Delay(20 * time.Millisecond)
		require.NoError(t, create())
		require.ErrorIs(t, create(), framework.ErrNodeExists)
		w.Server.On(zktest.OpCreate, "/n").After().Cut()
		require.ErrorIs(t, create(), framework.ErrUnknownOutcome)
		assert.Equal(t, series{
			`op="create",outcome="done"`: 1, `op="create",outcome="failed"`: 1, `op="create",outcome="unknown"`: 1,
		}, w.values("request_seconds_count"))
		assert.Equal(t, series{
			`op="create",outcome="done"`: .02, `op="create",outcome="failed"`: 0, `op="create",outcome="unknown"`: 0,
		}, w.values("request_seconds_sum"))
		assert.Equal(t, series{`op="create"`: 0}, w.values("request_retries_total"))
	})
}

func TestRequestsThatAreRepeated(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.measured("a")
		w.Server.On(zktest.OpGetData, "/").Nth(1).Cut()
		w.Server.On(zktest.OpGetData, "/").Nth(2).Cut()
		_, _, err := c.Get(t.Context(), "/")
		require.NoError(t, err)
		assert.Equal(t, series{`op="get",outcome="done"`: 1, `op="get",outcome="unknown"`: 2}, w.values("request_seconds_count"))
		assert.Equal(t, series{`op="get"`: 2}, w.values("request_retries_total"))
	})
}

// doomed returns a client, and a context in which its delete of a node has no answer,
// so that it is repeated in the background.
func doomed(w *world) (c *framework.Client, node string) {
	w.T.Helper()
	c = w.measured("a")
	made, err := c.Create(w.T.Context(), "/n", nil, framework.Persistent)
	require.NoError(w.T, err)
	return c, made.Path
}

func deleteWithoutAnswer(w *world, c *framework.Client, node string) {
	w.T.Helper()
	w.Server.Stall("a", true)
	ctx, cancel := context.WithTimeout(w.T.Context(), time.Second)
	defer cancel()
	require.ErrorIs(w.T, c.DeleteGuaranteed(ctx, node), context.DeadlineExceeded)
	w.Settle()
	assert.Equal(w.T, series{"": 1}, w.values("cleanups_pending"))
	assert.Equal(w.T, series{"": 0}, w.values("cleanup_failures_total"))
}

func TestCleanUpThatSucceeds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c, node := doomed(w)
		assert.Equal(t, series{"": 0}, w.values("cleanups_pending"))
		deleteWithoutAnswer(w, c, node)
		w.Server.Stall("a", false)
		w.After(time.Minute)
		assert.Equal(t, series{"": 0}, w.values("cleanups_pending"))
		assert.Equal(t, series{"": 0}, w.values("cleanup_failures_total"))
	})
}

func TestCleanUpThatIsRefused(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c, node := doomed(w)
		w.Server.On(zktest.OpDelete, node).Always().Fail(zktest.NoAuth)
		deleteWithoutAnswer(w, c, node)
		w.Server.Stall("a", false)
		w.After(time.Minute)
		assert.Equal(t, series{"": 0}, w.values("cleanups_pending"))
		assert.Equal(t, series{"": 1}, w.values("cleanup_failures_total"))
	})
}

// A znode goes with its session, so nothing has failed.
func TestCleanUpThatBecomesPointless(t *testing.T) {
	for name, end := range map[string]func(w *world, c *framework.Client){
		"session lost": func(w *world, c *framework.Client) { w.Expire(c) },
		"closed":       func(_ *world, c *framework.Client) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				c, node := doomed(w)
				deleteWithoutAnswer(w, c.In(c.Session()), node)
				end(w, c)
				w.Server.Stall("a", false)
				w.After(time.Minute)
				assert.Equal(t, series{"": 0}, w.values("cleanups_pending"))
				assert.Equal(t, series{"": 0}, w.values("cleanup_failures_total"))
			})
		})
	}
}
