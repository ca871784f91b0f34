package signal

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSignalIsGivenOnceByWhoeverComesFirst(t *testing.T) {
	t.Parallel()
	s := New()
	require.False(t, s.Given())
	var givers sync.WaitGroup
	for range 8 {
		givers.Go(s.Give)
	}
	<-s.Done()
	require.True(t, s.Given())
	givers.Wait()
}
