package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestLaggingReads(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s, "a", 10*time.Second), connect(t, s, "b", 10*time.Second)
		_, err := a.Create("/x", nil, 0, open)
		require.NoError(t, err)
		_, _, deleted, err := b.ExistsW("/x")
		require.NoError(t, err)
		s.Lag("b", true)
		require.NoError(t, a.Delete("/x", -1))
		synctest.Wait()
		there, _, err := b.Exists("/x")
		require.NoError(t, err)
		require.True(t, there, "stale")
		select {
		case <-deleted:
			t.Fatal("an event from the future")
		default:
		}
		_, err = b.Sync("/x")
		require.NoError(t, err)
		require.Equal(t, zk.EventNodeDeleted, (<-deleted).Type)
		there, _, err = b.Exists("/x")
		require.NoError(t, err)
		require.False(t, there)

		_, err = a.Create("/y", nil, 0, open)
		require.NoError(t, err)
		there, _, err = b.Exists("/y")
		require.NoError(t, err)
		require.False(t, there, "behind again")
		_, err = b.Create("/z", nil, 0, open)
		require.NoError(t, err)
		there, _, err = b.Exists("/y")
		require.NoError(t, err)
		require.True(t, there, "its own write brings it up to date")

		_, _, kids, err := b.ChildrenW("/")
		require.NoError(t, err)
		_, err = a.Create("/w", nil, 0, open)
		require.NoError(t, err)
		s.Lag("b", false)
		require.Equal(t, zk.EventNodeChildrenChanged, (<-kids).Type)
		require.Zero(t, s.Watches())
	})
}

// A second session of a lagging client does not cost the first its events.
func TestLagSurvivesANewSession(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s, "a", 10*time.Second), connect(t, s, "b", 10*time.Second)
		_, _, watch, err := b.ExistsW("/x")
		require.NoError(t, err)
		s.Lag("b", true)
		_, err = a.Create("/x", nil, 0, open)
		require.NoError(t, err)
		connect(t, s, "b", 10*time.Second)
		_, err = b.Sync("/")
		require.NoError(t, err)
		require.Equal(t, zk.EventNodeCreated, (<-watch).Type)
	})
}

// Watches set before and during a lag stay when it ends.
func TestMovesOfWatches(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s, "a", 10*time.Second), connect(t, s, "b", 10*time.Second)
		_, _, before, err := b.ExistsW("/before")
		require.NoError(t, err)
		s.Lag("b", true)
		_, _, during, err := b.ExistsW("/during")
		require.NoError(t, err)
		s.Lag("b", false)
		require.Equal(t, 2, s.Watches())
		for _, path := range []string{"/before", "/during"} {
			_, err = a.Create(path, nil, 0, open)
			require.NoError(t, err)
		}
		require.Equal(t, "/before", (<-before).Path)
		require.Equal(t, "/during", (<-during).Path)
	})
}
