package framework

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// The header of the answer to a multi says success, also if its results say that the
// session has expired.
func TestMultiWhoseResultSaysThatTheSessionHasExpired(t *testing.T) {
	t.Parallel()
	s := scripted()
	s.slots = make(chan struct{}, 1)
	greet(t, s)
	a, err := s.multi([]Op{CreateOp("/x", nil, Persistent)}, nil)
	require.NoError(t, err)
	s.slots <- struct{}{}
	c := &call[multiReply]{session: s, attempt: a, answer: s.answers.take()}
	c.Answered(guard.Answer{Zxid: 5, Body: []byte{
		255, 255, 255, 255, 0, 255, 255, 255, 144, 255, 255, 255, 144, // an error: -112
		255, 255, 255, 255, 1, 255, 255, 255, 255, // the end
	}})
	<-c.answer
	require.Equal(t, Failed, c.outcome)
	require.ErrorIs(t, c.err, ErrSessionExpired)
	require.ErrorIs(t, s.Err(), ErrSessionExpired)
}
