package framework

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// That the watches were set again on one connection says nothing of the next.
func TestWatchesHaveToBeSetAgainOnEachConnection(t *testing.T) {
	t.Parallel()
	for _, restored := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			session, w, c := attachedAgain(t)
			session.watchesRestored(true)
			require.True(t, session.gate.isOpen())
			require.NoError(t, c.Close())
			require.False(t, session.gate.isOpen())

			c = greet(t, session)
			if restored {
				session.watchesRestored(true)
				openGate(session, c, true)
				assert.Empty(t, w.Events(), "waiters must not read again without need")
				return
			}
			<-time.After(session.checkGate(time.Now()))
			session.checkGate(time.Now())
			session.tasks.wait()
			assert.True(t, session.gate.isOpen())
			assert.Len(t, w.Events(), 1, "or a change has no event")
		})
	}
}

// Requests are let through only while there is a session, and a connection to send them
// by.
func TestGateStaysClosedWithoutASessionOrAConnection(t *testing.T) {
	t.Parallel()
	session, _, c := attachedAgain(t)
	require.NoError(t, c.Close())
	session.gate.handle(gatePresented)
	session.watchesRestored(true)
	openGate(session, c, true)
	assert.False(t, session.gate.isOpen())

	openGate(session, greet(t, session), true)
	require.True(t, session.gate.isOpen())
	session.end(ErrSessionExpired)
	require.False(t, session.gate.isOpen())

	session, _, c = attachedAgain(t)
	session.guard.End(ErrSessionExpired)
	require.NotNil(t, session.guard.Live(), "what is left of it")
	session.gate.handle(gatePresented)
	session.watchesRestored(true)
	openGate(session, c, true)
	assert.False(t, session.gate.isOpen())
}
