package interop

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Java multi-lock of the opposite order and a Go program that acquires the same two
// mutexes one inside the other wait for each other. Java's znodes do not say what the
// thread holds that waits, so the deadlock is only possible: by what its session holds.
func TestCycleOfGoAndJava(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		client := connect(t, addr)
		_, mutexes := newMultiLock(t, client)
		outer, err := mutexes[0].Acquire(context.Background(), 0)
		require.NoError(t, err)
		p := startCurator(t, "hold", addr, sharedPath, "locks=2", "foreign=1", "wait=120000")
		awaitChildren(t, client, memberPath(0), 2) // it holds the other one, and waits for this
		before, err := inspect.Cycles(within(t, limit), client, sharedPath)
		require.NoError(t, err)
		require.Equal(t, &inspect.CycleSurvey{Locks: 2}, before)

		ctx, cancel := context.WithCancelCause(outer.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := mutexes[1].Acquire(ctx, lease.Forever)
			failed <- err
		}()
		awaitChildren(t, client, memberPath(1), 2)
		found, err := inspect.Cycles(within(t, limit), client, sharedPath)
		require.NoError(t, err)
		require.Len(t, found.Cycles, 1)
		require.False(t, found.Cycles[0].Certain)
		links := found.Cycles[0].Links
		require.Len(t, links, 2)
		for i, l := range links {
			require.Equal(t, l.Held.Session, l.Waiting.Session)
			require.Equal(t, l.WaitsFor, links[1-i].Holds)
		}
		require.ElementsMatch(t, []string{memberPath(0), memberPath(1)}, []string{links[0].Holds, links[1].Holds})

		errGiveUp := errors.New("told to give up")
		cancel(errGiveUp)
		require.ErrorIs(t, <-failed, errGiveUp)
		require.NoError(t, outer.Release())
		require.Contains(t, p.line(t), "held ")
		javaReleases(t, p)
		requireNothingLeftOfAll(t, addr)
	})
}
