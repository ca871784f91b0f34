package interop

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A LeaderLatch watches the node ahead of it until that changes in any way. If its data
// have changed, it does not notice any more that the node is deleted, and is at the
// head of the queue without leading. In a version of Curator that does notice, the next
// two tests would forbid more than they have to.
func TestLatchInJavaDoesNotNoticeTheEndOfANodeWhoseDataHaveChanged(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		observer := connect(t, addr)
		ahead, err := newCandidate(t, addr, "a").Acquire(context.Background(), 0)
		require.NoError(t, err)
		java := javaCampaigns(t, addr, observer, 2)
		require.Equal(t, []string{"a*", "java1"}, participants(t, addr)) // by now it watches
		_, err = observer.Set(within(t, limit), ahead.Path(), []byte("a"), framework.AnyVersion)
		require.NoError(t, err)
		require.NoError(t, ahead.Release())
		require.Equal(t, []string{"java1*"}, participants(t, addr)) // which takes longer than an event
		require.NoError(t, java.input.Close())
		require.Equal(t, []string{"closed"}, java.requireRest(t), "it has not led")
	})
}

// So a LeaderLatch that is behind others in Go is not made the next one.
func TestLatchInJavaPassesNobody(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		observer := connect(t, addr)
		term, err := newCandidate(t, addr, "a").Acquire(context.Background(), 0)
		require.NoError(t, err)
		b := acquireLater(t, newCandidate(t, addr, "b"))
		awaitChildren(t, observer, electionPath, 2)
		java := javaCampaigns(t, addr, observer, 3)
		before := nodes(t, observer)
		_, err = newCandidate(t, addr, "d").MakeNext(within(t, limit), "java1")
		require.ErrorIs(t, err, leader.ErrNotPassed)
		require.Equal(t, before, nodes(t, observer))
		require.NoError(t, term.Release())
		require.NoError(t, (<-b).Release())
		requireLeadsSoon(t, java)
		javaResigns(t, java)
		requireNothingLeft(t, addr, electionPath)
	})
}

// Nor is revocation requested of a leader with a LeaderLatch directly behind it.
func TestRevocationOfALeaderAheadOfALatchInJava(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		observer := connect(t, addr)
		term, err := newCandidate(t, addr, "a").Acquire(context.Background(), 0)
		require.NoError(t, err)
		java := javaCampaigns(t, addr, observer, 2)
		before := nodes(t, observer)
		require.ErrorIs(t, lease.RequestRevocation(within(t, limit), observer, term.Path()), lease.ErrCuratorBehind)
		require.Equal(t, before, nodes(t, observer))
		require.NoError(t, term.Release())
		requireLeadsSoon(t, java)
		javaResigns(t, java)
	})
}
