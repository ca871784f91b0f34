package framework_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// failClose makes the first attempt to close a session fail.
func failClose(s *zktest.Server, session int64, how zktest.Action) {
	var first atomic.Bool
	s.SetFaults(func(call zktest.Call) zktest.Action {
		if call.Op == zktest.OpClose && call.Phase == zktest.PhaseBeforeApply && call.Session == session && first.CompareAndSwap(false, true) {
			return how
		}
		return zktest.Pass
	})
}

// A session that was given up is closed on the server before that expires it, also if
// the first attempts fail and most servers cannot be reached.
func TestLostSessionIsClosedOnTheServerAtLast(t *testing.T) {
	refuses := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }
	for name, fault := range map[string]func(s *zktest.Server, session int64){
		"all is well": func(*zktest.Server, int64) {},
		"refused": func(s *zktest.Server, _ int64) {
			s.RefuseConnections("live:1", true)
			time.AfterFunc(200*time.Millisecond, func() { s.RefuseConnections("live:1", false) })
		},
		"not closed":   func(s *zktest.Server, session int64) { failClose(s, session, zktest.CutConnection) },
		"not answered": func(s *zktest.Server, session int64) { failClose(s, session, zktest.DropReply) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				special := map[string]dialer{"a:1": refuses, "b:1": refuses, "c:1": refuses}
				c := connect(t, s, fronts(s, special, "a:1", "b:1", "live:1", "c:1"))
				old := c.Session()
				_, err := c.Create(t.Context(), "/lock", nil, framework.Ephemeral)
				require.NoError(t, err)
				time.Sleep(2 * timeout)
				s.Partition("live:1", true)
				<-old.Done()
				expiry := s.Sessions()[0].Deadline
				time.Sleep(margin - 1)
				s.Partition("live:1", false)
				fault(s, old.ID())
				_, there := s.Node("/lock")
				require.True(t, there)
				for there && time.Now().Before(expiry) {
					time.Sleep(10 * time.Millisecond)
					_, there = s.Node("/lock")
				}
				assert.False(t, there)
				assert.True(t, time.Now().Before(expiry))
			})
		})
	}
}
