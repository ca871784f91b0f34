package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Only sessions on which leases rely count, the main one as well as further ones.
func TestTrustOfAClient(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, few)
		main := c.Session()
		further, err := kit.Of(c).AwaitRoom(t.Context(), "/", []string{""}, 1, []*framework.Session{main})
		require.NoError(t, err)
		rely := func(in *framework.Session, node string) (end func()) {
			_, err := kit.Of(c).Within(in).Create(t.Context(), node, nil, framework.Ephemeral)
			require.NoError(t, err)
			r, err := kit.Of(c.In(in)).Rely(t.Context(), node)
			require.NoError(t, err)
			return r.End
		}
		// A sync is answered in the moment in which a sleep ends: that is awaited, or
		// the trust grows between two looks at it.
		after := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		require.Zero(t, c.TrustedUntil(), "nothing is held")
		end := rely(further, "/further")
		after(timeout)
		require.Equal(t, further.TrustedUntil(), c.TrustedUntil())
		endOfMain := rely(main, "/main")
		after(timeout)
		id := main.ID()
		s.SetFaults(func(c zktest.Call) zktest.Action { // no leader answers the main one
			if c.Session == id && (c.Op == zktest.OpSync || c.Op == zktest.OpMulti) {
				return zktest.Fail(zktest.ThrottledOp)
			}
			return zktest.Pass
		})
		after(timeout / 3)
		until := main.TrustedUntil()
		require.Less(t, until, further.TrustedUntil())
		require.Equal(t, until, c.TrustedUntil())
		end()
		require.Equal(t, until, c.TrustedUntil())
		s.SetFaults(nil)
		endOfMain()
		require.Zero(t, c.TrustedUntil())
	})
}
