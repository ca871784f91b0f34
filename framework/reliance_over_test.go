package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A session that is over, and a context that has ended, are not relied on either when
// the newest transaction is young.
func TestRelyFailsAtOnceInASessionThatIsOver(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		pinned := makeNodes(t, c, "/a")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		r, err := kit.Of(pinned).Rely(ended, "/a")
		assert.ErrorIs(t, err, context.Canceled)
		if r != nil {
			r.End()
		}
		s.ExpireSession(c.Session().ID())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Error(t, pinned.Session().Err())
		_, err = kit.Of(pinned).Rely(t.Context(), "/a")
		assert.ErrorIs(t, err, framework.ErrSessionLost)
	})
}

// A server that answers pings and reads, but neither syncs nor transactions, is left
// while there is time to have a quorum vouch for the session through another, whichever
// request came first.
func TestServerThatAnswersReadsOnlyIsLeftWhileThereIsTime(t *testing.T) {
	t.Parallel()
	for step := range 12 {
		inBubble(t, func(t *testing.T, s *zktest.Server) {
			c := connect(t, s, fronts(s, nil, "a:1", "b:1"))
			r := relying(t, c, "/a")
			defer r.End()
			session := c.Session()
			time.Sleep(2*timeout + time.Duration(step)*timeout/144)
			_, err := c.Set(t.Context(), "/a", nil, framework.AnyVersion)
			require.NoError(t, err)
			time.Sleep(timeout/4 - timeout/200)
			at := s.Sessions()[0].Client
			for _, op := range []zktest.Op{zktest.OpMulti, zktest.OpSync} {
				s.On(op, "").Client(at).Always().DropReply()
			}
			for begun := time.Now(); time.Since(begun) < 2*timeout; time.Sleep(50 * time.Millisecond) {
				_, _, _ = c.In(session).Exists(within(t, 100*time.Millisecond), "/")
			}
			assert.NoError(t, session.Err(), "step %d", step)
		})
	}
}
