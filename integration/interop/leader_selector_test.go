package interop

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A LeaderSelector has the nodes of a mutex, so it and a mutex at its path exclude each
// other.
func TestLeaderSelectorInJavaIsAMutex(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		observer := connect(t, addr)
		m := newMutex(t, connect(t, addr), electionPath)
		first, err := m.Acquire(context.Background(), 0)
		require.NoError(t, err)
		java := startCurator(t, "holdselector", addr, electionPath)
		awaitChildren(t, observer, electionPath, 2)
		granted := acquireLater(t, m)
		awaitChildren(t, observer, electionPath, 3)

		require.NoError(t, first.Release())
		require.Equal(t, "leads", java.line(t))
		select {
		case <-granted:
			require.Fail(t, "granted while Java leads")
		default:
		}
		javaResigns(t, java)
		last := <-granted
		require.NotNil(t, last)
		require.NoError(t, last.Release())
		requireNothingLeft(t, addr, electionPath)
	})
}

// An election has other nodes, those of a LeaderLatch: it is refused where a
// LeaderSelector is, but a LeaderSelector leads beside it.
func TestLeaderSelectorInJavaDoesNotWaitForAnElection(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		java := startCurator(t, "holdselector", addr, electionPath)
		require.Equal(t, "leads", java.line(t))
		election := newCandidate(t, addr, "go")
		_, err := election.Acquire(context.Background(), 0)
		require.ErrorIs(t, err, lease.ErrOtherRecipe)
		javaResigns(t, java)

		term, err := election.Acquire(context.Background(), limit)
		require.NoError(t, err)
		java = startCurator(t, "holdselector", addr, electionPath)
		require.Equal(t, "leads", java.line(t), "two lead")
		require.NoError(t, term.Err())
		javaResigns(t, java)
		require.NoError(t, term.Release())
		requireNothingLeft(t, addr, electionPath)
	})
}
