package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// Requests that a client sends before it closes its connection are handled, as over
// TCP, also if an answer cannot be sent any more.
func TestRequestsBeforeTheClientCloses(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := speaker(t, s, "a", nil)
		s.On(zktest.OpExists, "").Delay(time.Second)
		s.On(zktest.OpClose, "").Delay(time.Second) // long enough for the server to notice that the first answer cannot be sent
		go func() { _, _ = a.Do(zktest.OpExists, read("/", false)) }()
		synctest.Wait()
		go func() { _, _ = a.Do(zktest.OpClose, nil) }()
		synctest.Wait()
		require.NoError(t, a.Close())
		time.Sleep(3 * time.Second)
		require.Empty(t, s.Sessions())
	})
}
