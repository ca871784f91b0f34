package zktest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// A leader whose clock is wrong gives nodes wrong times, and expires no session sooner
// because of that.
func TestWrongClock(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := connect(t, s, "a", 10*time.Second)
		for path, ahead := range map[string]time.Duration{"/ahead": time.Hour, "/behind": -time.Hour, "/right": 0} {
			s.SetClock(ahead)
			_, err := a.Create(path, nil, 0, open)
			require.NoError(t, err)
			_, stat, err := a.Exists(path)
			require.NoError(t, err)
			require.Equal(t, time.Now().Add(ahead).UnixMilli(), stat.Ctime)
			require.Equal(t, stat.Ctime, stat.Mtime)
		}
		s.SetClock(time.Hour)
		<-time.After(time.Minute)
		require.Len(t, s.Sessions(), 1)
	})
}
