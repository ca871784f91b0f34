package interop

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A LeaderLatch watches the node ahead of it until that changes in any way, and does not
// notice any more that it is deleted if its data have changed before. It is the named
// candidate here: those in Go ahead of it step back, and it leads
// after the leader.
func TestLatchInJavaIsMadeNext(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		observer := connect(t, addr)
		term, err := newCandidate(t, addr, "a").Acquire(context.Background(), 0)
		require.NoError(t, err)
		var granted []<-chan *lease.Lease
		for i, id := range []string{"b", "c"} {
			granted = append(granted, acquireLater(t, newCandidate(t, addr, id)))
			awaitChildren(t, observer, electionPath, 2+i)
		}
		java := javaCampaigns(t, addr, observer, 4)
		require.Equal(t, []string{"a*", "b", "c", "java1"}, participants(t, addr)) // by now it watches

		present, err := newCandidate(t, addr, "d").MakeNext(within(t, limit), "java1")
		require.NoError(t, err)
		require.Equal(t, term.Path(), present.Path)
		awaitChildren(t, observer, electionPath, 4)
		shown := participants(t, addr)
		require.Equal(t, []string{"a*", "java1"}, shown[:2])
		require.ElementsMatch(t, []string{"b", "c"}, shown[2:])

		require.NoError(t, term.Release())
		requireLeadsSoon(t, java)
		require.Equal(t, "java1*", participants(t, addr)[0])
		javaResigns(t, java)
		for _, g := range granted {
			require.NoError(t, (<-g).Release())
		}
		requireNothingLeft(t, addr, electionPath)
	})
}

// Revocation is requested of a leader with a LeaderLatch behind it, which leads when
// that has resigned.
func TestRevocationOfALeaderAheadOfALatchInJava(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		observer := connect(t, addr)
		term, err := newCandidate(t, addr, "a").Acquire(context.Background(), 0)
		require.NoError(t, err)
		java := javaCampaigns(t, addr, observer, 2)
		require.Equal(t, []string{"a*", "java1"}, participants(t, addr)) // by now it watches
		require.NoError(t, lease.RequestRevocation(within(t, limit), observer, term.Path()))
		<-term.RevocationRequested()
		require.NoError(t, term.Release())
		requireLeadsSoon(t, java)
		javaResigns(t, java)
	})
}
