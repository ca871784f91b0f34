package framework

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// Two deletes wait for the same write. The first is done; then another write is given
// up, which was sent behind the transaction that the second still waits for.
func TestSettledWritesAreForgottenOnce(t *testing.T) {
	t.Parallel()
	inSessions(t, func(t *testing.T, s *zktest.Server, v recipeView, room func(full ...*Session) *Session) {
		further := room(v.Session())
		further.granted()
		_, err := v.Create(t.Context(), "/x", nil, Persistent)
		require.NoError(t, err)
		giveUp := func() {
			s.On(zktest.OpSetData, "/x").Delay(50 * time.Millisecond)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			_, err := v.Set(ctx, "/x", nil, AnyVersion)
			require.Equal(t, Unknown, OutcomeOf(err))
		}
		c := v.Within(further)
		giveUp()
		first := s.On(zktest.OpMulti, "").After().Delay(time.Millisecond)
		settled := make(chan error, 2)
		go func() { settled <- c.settleWrites(t.Context()) }()
		<-first.Fired()
		second := s.On(zktest.OpMulti, "").After().Delay(time.Second)
		go func() { settled <- c.settleWrites(t.Context()) }()
		<-second.Fired()
		require.NoError(t, <-settled)
		require.False(t, v.core.unanswered.any())
		giveUp()
		require.NoError(t, <-settled)
		assert.True(t, v.core.unanswered.any())
		require.NoError(t, c.settleWrites(t.Context()))
		synctest.Wait()
		assert.False(t, v.core.unanswered.any())
	})
}

// Who has left a transaction ahead of an operation has not left that.
func TestOperationThatWasNotSentWasNotLeft(t *testing.T) {
	t.Parallel()
	err := error(&OpError{Op: "create", Outcome: Failed, Err: notSentError{&OpError{Op: "multi", Outcome: Unknown, Err: leftError{context.DeadlineExceeded}}}})
	var left leftError
	assert.NotErrorAs(t, err, &left)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}
