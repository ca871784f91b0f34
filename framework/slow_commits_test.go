package framework_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// Commits that take a fifth of the timeout, behind which a server answers nothing else,
// cost an idle holder neither its session nor its connection.
func TestSlowCommitsDoNotEndAnIdleSession(t *testing.T) {
	for _, watches := range []bool{false, true} {
		for _, slow := range []time.Duration{timeout / 10, timeout / 8, timeout / 6, timeout / 5} {
			t.Run(fmt.Sprintf("%v, watches: %v", slow, watches), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, s *zktest.Server) {
					c := connect(t, s)
					r := relying(t, c, "/a")
					defer r.End()
					if watches {
						_, _, _, err := c.GetWatch(t.Context(), "/a")
						require.NoError(t, err)
					}
					session := c.Session()
					time.Sleep(timeout)
					s.On(zktest.OpMulti, "").Always().Delay(slow)
					s.ResetCounts()
					time.Sleep(20 * timeout)
					require.NoError(t, session.Err())
					assert.Zero(t, s.Count(zktest.OpConnect))
				})
			})
		}
	}
}
