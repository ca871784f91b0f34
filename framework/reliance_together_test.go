package framework_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Many that come to rely on a session at once need one transaction, however long it
// takes.
func TestReliancesAtOnceShareATransaction(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		pinned := makeNodes(t, c, "/a")
		time.Sleep(timeout)
		s.On(zktest.OpMulti, "").Always().Delay(timeout / 10)
		var all []<-chan result[kit.Reliance]
		for range 20 {
			all = append(all, start(func() (kit.Reliance, error) { return kit.Of(pinned).Rely(t.Context(), "/a") }))
		}
		for _, one := range all {
			r := <-one
			require.NoError(t, r.err)
			assert.Less(t, r.took, timeout/8)
			r.value.End()
		}
		assert.Equal(t, 1, s.Count(zktest.OpMulti))
	})
}

// A call that waits for the transaction of another may be given up, and fails when the
// session ends; when the other is given up, it makes the transaction itself.
func TestRelianceWaitsForATransactionUnderWay(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		pinned := makeNodes(t, c, "/a")
		time.Sleep(timeout)
		end := silenceVouching(s)
		first := start(func() (kit.Reliance, error) { return kit.Of(pinned).Rely(within(t, timeout/2), "/a") })
		time.Sleep(time.Millisecond)
		_, err := kit.Of(pinned).Rely(within(t, timeout/9), "/a")
		require.ErrorIs(t, err, errStopped)
		require.Empty(t, first)
		second := start(func() (kit.Reliance, error) { return kit.Of(pinned).Rely(t.Context(), "/a") })
		require.ErrorIs(t, (<-first).err, errStopped)
		end()
		time.Sleep(2 * timeout)
		r := <-second
		require.NoError(t, r.err)
		r.value.End()

		time.Sleep(timeout)
		silenceVouching(s)
		var all []<-chan result[kit.Reliance]
		for range 3 {
			all = append(all, start(func() (kit.Reliance, error) { return kit.Of(pinned).Rely(t.Context(), "/a") }))
		}
		time.Sleep(time.Millisecond)
		ended := time.Now()
		c.Close()
		for _, one := range all {
			require.ErrorIs(t, (<-one).err, framework.ErrClosed)
		}
		assert.Less(t, time.Since(ended), 2*time.Second)
	})
}
