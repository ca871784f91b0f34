package interop

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// javaReplies is the largest answer that Java clients from 3.6 on take by default.
const javaReplies = 0xfffff

// mostListed is how many contenders of a mutex such an answer can list: each name has
// 55 bytes and a length, besides a header of 16 bytes, the number of names and a Stat of
// 68 bytes.
const mostListed = (javaReplies - 16 - 4 - 68) / (4 + 55)

// A queue with more contenders than a Java client can list keeps it from acquiring,
// also from trying. A client of ours goes by MaxReplyBytes, which is sixteen times as
// much by default.
func TestQueueThatIsTooLongForJava(t *testing.T) {
	addr := startZooKeeper(t)
	c := connect(t, addr)
	small := newMutex(t, connect(t, addr, func(cfg *framework.Config) { cfg.MaxReplyBytes = javaReplies }), sharedPath)
	crowd(t, c, mostListed-1)

	require.Equal(t, []string{"busy"}, startCurator(t, "hold", addr, sharedPath, "wait=1").requireRest(t), "with its own there are as many as possible")
	addTo(t, c, mostListed-1, 1)
	_, err := small.Acquire(context.Background(), 0)
	require.ErrorIs(t, err, lease.ErrTimeout)

	addTo(t, c, mostListed, 1)
	_, err = small.Acquire(context.Background(), 0)
	require.ErrorIs(t, err, framework.ErrReplyTooLarge)
	_, err = newMutex(t, c, sharedPath).Acquire(context.Background(), 0)
	require.ErrorIs(t, err, lease.ErrTimeout)
	_, err = startCurator(t, "hold", addr, sharedPath, "wait=1").rest()
	require.ErrorContains(t, err, "ConnectionLoss")
}

// crowd makes the nodes of so many contenders, which no session owns.
func crowd(t *testing.T, c *framework.Client, n int) {
	t.Helper()
	require.NoError(t, c.CreateParents(within(t, limit), sharedPath+"/x"))
	for first := 0; first < n; first += 1000 {
		addTo(t, c, first, min(1000, n-first))
	}
}

// addTo adds some behind those that there are.
func addTo(t *testing.T, c *framework.Client, first, n int) {
	t.Helper()
	var ops []framework.Op
	for i := first; i < first+n; i++ {
		ops = append(ops, framework.CreateOp(fmt.Sprintf("%s/_c_00000000-0000-4000-8000-%012x-lock-%010d", sharedPath, i, i), nil, framework.Persistent))
	}
	_, err := c.Multi(within(t, limit), ops...)
	require.NoError(t, err)
}
