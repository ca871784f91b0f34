package signal

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSignalIsGivenConcurrently(t *testing.T) {
	t.Parallel()
	s := New()
	require.False(t, s.Given())
	first := s.Done()
	var givers sync.WaitGroup
	for range 8 {
		givers.Go(s.Give)
	}
	<-s.Done()
	<-first
	require.True(t, s.Given())
	givers.Wait()
}

// A wait that begins after the signal was given ends at once.
func TestSignalIsGivenBeforeTheFirstWait(t *testing.T) {
	t.Parallel()
	var s Signal
	s.Give()
	s.Give()
	require.True(t, s.Given())
	<-s.Done()
	s.Give()
	<-s.Done()
}

func TestFunctionsAreCalledOnceWhenASignalIsGiven(t *testing.T) {
	t.Parallel()
	s := New()
	var early, stopped, late int
	s.OnGive(func() {
		<-s.Done()
		early++
	})
	stop := s.OnGive(func() { stopped++ })
	stop()
	s.Give()
	s.Give()
	stop = s.OnGive(func() { late++ })
	stop()
	require.Equal(t, []int{1, 0, 1}, []int{early, stopped, late})
}
