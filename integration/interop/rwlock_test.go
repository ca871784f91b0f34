package interop

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

func newReadWriteLock(t *testing.T, client *framework.Client) *rwlock.Lock {
	t.Helper()
	l, err := rwlock.New(client, sharedPath)
	require.NoError(t, err)
	return l
}

// javaReadWriter starts a Java process that takes one side of the lock.
func javaReadWriter(t *testing.T, addr string, write bool, wait int) *program {
	t.Helper()
	option := "write=0"
	if write {
		option = "write=1"
	}
	return startCurator(t, "holdrw", addr, sharedPath, option, fmt.Sprintf("wait=%d", wait))
}

// Go and Java read together and write alone, in either order.
func TestReadersAndWritersOfGoAndJava(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		l := newReadWriteLock(t, connect(t, addr))
		side := map[bool]lease.Acquirer{false: l.Read(), true: l.Write()}
		for _, goWrites := range []bool{false, true} {
			for _, javaWrites := range []bool{false, true} {
				together := !goWrites && !javaWrites

				held, err := side[goWrites].Acquire(context.Background(), 0)
				require.NoError(t, err)
				p := javaReadWriter(t, addr, javaWrites, 0)
				if together {
					require.Equal(t, "held", p.line(t))
					javaReleases(t, p)
				} else {
					require.Equal(t, []string{"busy"}, p.requireRest(t))
				}
				require.NoError(t, held.Release())

				p = javaReadWriter(t, addr, javaWrites, 0)
				require.Equal(t, "held", p.line(t))
				held, err = side[goWrites].Acquire(context.Background(), 0)
				if together {
					require.NoError(t, err)
					require.NoError(t, held.Release())
				} else {
					require.ErrorIs(t, err, lease.ErrTimeout)
				}
				javaReleases(t, p)
			}
		}
		requireNothingLeft(t, addr, sharedPath)
	})
}

// A Java writer that waited before Go's downgrade goes on waiting after it. (Before
// version 5.5, Curator's own downgrade keeps no writer out: CURATOR-621.)
func TestJavaWriterWaitsForADowngradeOfGo_Curator621(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		client := connect(t, addr)
		l := newReadWriteLock(t, client)
		writing, err := l.Write().Acquire(context.Background(), 0)
		require.NoError(t, err)
		patient := javaReadWriter(t, addr, true, 5000)
		awaitChildren(t, client, sharedPath, 2)
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		require.NoError(t, writing.Release())
		require.Equal(t, []string{"busy"}, patient.requireRest(t))

		beside := javaReadWriter(t, addr, false, 0)
		require.Equal(t, "held", beside.line(t))
		javaReleases(t, beside)
		require.NoError(t, reading.Err())
		next := javaReadWriter(t, addr, true, 120000)
		awaitChildren(t, client, sharedPath, 2)
		require.NoError(t, reading.Release())
		require.Equal(t, "held", next.line(t))
		javaReleases(t, next)
		requireNothingLeft(t, addr, sharedPath)
	})
}
