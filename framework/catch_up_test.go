package framework

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// Grants go on while many operations wait for the main session to catch up: each needs
// only those before it.
func TestOperationsCatchUpTogether(t *testing.T) {
	t.Parallel()
	inSessions(t, func(t *testing.T, s *zktest.Server, v recipeView, room func(full ...*Session) *Session) {
		const roundTrip = 10 * time.Millisecond
		further := room(v.Session())
		further.granted()
		s.On(zktest.OpMulti, "").Always().Delay(roundTrip)
		ctx, cancel := context.WithCancel(t.Context())
		var grants, operations sync.WaitGroup
		grants.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(time.Millisecond)
				further.granted()
			}
		})
		begun := time.Now()
		for range 50 {
			operations.Go(func() {
				_, _, err := v.Exists(t.Context(), "/x")
				assert.NoError(t, err)
			})
		}
		operations.Wait()
		assert.LessOrEqual(t, time.Since(begun), 2*roundTrip)
		assert.LessOrEqual(t, s.Count(zktest.OpMulti), 2)
		cancel()
		grants.Wait()
	})
}

// What was not sent, because the transaction ahead of it has failed, has no unknown
// outcome.
func TestOperationThatCannotCatchUpIsNotSent(t *testing.T) {
	t.Parallel()
	inSessions(t, func(t *testing.T, s *zktest.Server, v recipeView, room func(full ...*Session) *Session) {
		room(v.Session()).granted()
		main := v.Session()
		expired := s.On(zktest.OpMulti, "").Expire()
		_, err := v.Create(t.Context(), "/x", nil, Persistent)
		require.NoError(t, err, "it is sent in the next session")
		<-expired.Fired()
		assert.NotSame(t, main, v.Session())

		room(v.Session()).granted()
		muted := s.On(zktest.OpMulti, "").Mute()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = v.Create(ctx, "/y", nil, Persistent)
		<-muted.Fired()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, Failed, OutcomeOf(err))
		assert.NotErrorIs(t, err, ErrUnknownOutcome)
		assert.ErrorContains(t, err, "create /y: multi")
	})
}

// The program need not be allowed to read the root: what a quorum refuses is committed.
func TestCatchingUpWithoutPermissionForTheRoot(t *testing.T) {
	t.Parallel()
	inSessions(t, func(t *testing.T, s *zktest.Server, v recipeView, room func(full ...*Session) *Session) {
		_, err := v.SetACL(t.Context(), "/", WorldACL(PermCreate), AnyVersion)
		require.NoError(t, err)
		room(v.Session()).granted()
		_, err = v.Create(t.Context(), "/x", nil, Persistent)
		require.NoError(t, err)
		assert.Equal(t, 1, s.Count(zktest.OpMulti))
		assert.Equal(t, v.core.grants.Load(), v.Session().caught.upTo.Load())
	})
}
