package framework_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The answer to a request that was given up reaches nobody, whichever request follows.
func TestALateAnswerReachesNoOtherRequest(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		for _, name := range []string{"/a", "/b"} {
			_, err := c.Create(t.Context(), name, []byte(name), framework.Persistent)
			require.NoError(t, err)
		}
		for i := range 50 {
			s.Stall("client", true)
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, _, err := c.Get(ctx, "/a")
			cancel()
			require.ErrorIs(t, err, framework.ErrUnknownOutcome, fmt.Sprint(i))
			time.AfterFunc(time.Millisecond, func() { s.Stall("client", false) })
			data, _, err := c.Get(t.Context(), "/b")
			require.NoError(t, err)
			require.Equal(t, "/b", string(data), fmt.Sprint(i))
			_, _, err = c.Get(t.Context(), "/a") // behind both
			require.NoError(t, err)
		}
	})
}
