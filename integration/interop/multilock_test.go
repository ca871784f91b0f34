package interop

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
)

// javaOrders are the options of Java multi-locks on the two mutexes below a path: in the
// order of their paths, and in the opposite one.
var javaOrders = [][]string{{"locks=2"}, {"locks=2", "foreign=1"}}

// memberPath is the path of one of the mutexes, with the name that NamedLock.java gives
// it.
func memberPath(i int) string { return fmt.Sprintf("%s/%d", sharedPath, i) }

// newMultiLock returns a lock on two mutexes, and these.
func newMultiLock(t *testing.T, c *framework.Client, opts ...multilock.Option) (*multilock.Lock, []lease.Acquirer) {
	t.Helper()
	mutexes := []lease.Acquirer{newMutex(t, c, memberPath(0)), newMutex(t, c, memberPath(1))}
	all, err := multilock.New(mutexes, opts...)
	require.NoError(t, err)
	return all, mutexes
}

// requireNothingLeftOfAll checks that nothing is left of either mutex.
func requireNothingLeftOfAll(t *testing.T, addr string) {
	t.Helper()
	for i := range 2 {
		requireNothingLeft(t, addr, memberPath(i))
	}
}

// A Java multi-lock keeps out a Go multi-lock on the same mutexes, and each of these,
// whatever its order.
func TestGoIsKeptOutByJavasMultiLock(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		all, mutexes := newMultiLock(t, connect(t, addr))
		for _, options := range javaOrders {
			p, _ := javaHolds(t, addr, options...)
			for _, a := range []lease.Acquirer{all, mutexes[0], mutexes[1]} {
				for _, timeout := range []time.Duration{0, time.Second} {
					_, err := a.Acquire(context.Background(), timeout)
					require.ErrorIs(t, err, lease.ErrTimeout)
				}
			}
			javaReleases(t, p)
			held, err := all.Acquire(context.Background(), 0)
			require.NoError(t, err)
			require.NoError(t, held.Release())
		}
		requireNothingLeftOfAll(t, addr)
	})
}

// A Go multi-lock keeps out a Java multi-lock on the same mutexes, and each of these.
func TestJavaIsKeptOutByAMultiLock(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		all, _ := newMultiLock(t, connect(t, addr))
		java := func(path string, options ...string) []string {
			return startCurator(t, "hold", addr, path, slices.Concat(options, []string{"wait=0"})...).requireRest(t)
		}
		held, err := all.Acquire(context.Background(), 0)
		require.NoError(t, err)
		for _, options := range javaOrders {
			require.Equal(t, []string{"busy"}, java(sharedPath, options...))
		}
		for i := range 2 {
			require.Equal(t, []string{"busy"}, java(memberPath(i)))
		}
		require.NoError(t, held.Err(), "what Java has tried and left changes nothing")
		require.NoError(t, held.Release())
		p, _ := javaHolds(t, addr, javaOrders[1]...)
		javaReleases(t, p)
		requireNothingLeftOfAll(t, addr)
	})
}

// A Go multi-lock that waits while a Java multi-lock of the opposite order waits for
// it releases what it holds, long before Java gives up: so both are granted.
func TestOppositeOrdersOfGoAndJava(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		client := connect(t, addr)
		all, mutexes := newMultiLock(t, client)
		second, err := mutexes[1].Acquire(context.Background(), 0)
		require.NoError(t, err)
		p := startCurator(t, "hold", addr, sharedPath, "locks=2", "foreign=1", "wait=120000")
		awaitChildren(t, client, memberPath(1), 2)
		granted := acquireLater(t, all)
		awaitChildren(t, client, memberPath(1), 3) // it holds the first, and is behind Java at the second
		require.NoError(t, second.Release())       // so Java waits for it
		require.Contains(t, p.line(t), "held ")
		javaReleases(t, p)
		held := <-granted
		require.NotNil(t, held)
		require.NoError(t, held.Release())
		requireNothingLeftOfAll(t, addr)
	})
}
