package framework_test

import (
	"context"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A program asks for Session.Err under a lock that its observer takes, too. Err finds
// that the trust deadline has passed, while a request is under way: it answers none.
func TestErrCallsNoObserver(t *testing.T) {
	t.Parallel()
	for range 20 { // who finds it first is chance
		inBubble(t, func(t *testing.T, s *zktest.Server) {
			observer := framework.Observer{RequestEnded: func(_ context.Context, r framework.Request) {
				if r.Op == "children" {
					assert.NotContains(t, string(debug.Stack()), "(*Session).Err(", "the observer runs where Err was called")
				}
			}}
			c := connect(t, s, func(cfg *framework.Config) { cfg.Observers = append(cfg.Observers, observer) })
			session := c.Session()
			time.Sleep(2 * timeout)
			s.On(zktest.OpSync, "").Always().Fail(zktest.ThrottledOp)
			s.RefuseConnections("client", true)
			time.Sleep(100 * time.Millisecond)
			until := session.TrustedUntil()
			time.Sleep(time.Until(until) - 50*time.Millisecond)
			s.On(zktest.OpGetChildren2, "").Optional().Delay(time.Second)
			require.True(t, kit.Of(c.In(session)).SendChildren("/", func([]string, error) {}))
			time.Sleep(time.Until(until))
			require.Error(t, session.Err())
		})
	}
}
