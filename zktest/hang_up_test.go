package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// What a client has sent before it hangs up is heard, also when an answer can no longer
// be given to it: so it is over TCP.
func TestLastWordsOfAClientThatHangsUp(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := speaker(t, s, "a", nil)
		s.On(zktest.OpExists, "").Delay(time.Second)
		s.On(zktest.OpClose, "").Delay(time.Second) // time enough to notice that the first answer does not arrive
		go func() { _, _ = a.Do(zktest.OpExists, read("/", false)) }()
		synctest.Wait()
		go func() { _, _ = a.Do(zktest.OpClose, nil) }()
		synctest.Wait()
		require.NoError(t, a.Close())
		time.Sleep(3 * time.Second)
		require.Empty(t, s.Sessions())
	})
}
