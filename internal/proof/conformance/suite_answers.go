package conformance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// crowd adds so many children to each parent of a lease's nodes that a listing exceeds
// the limit of one answer. It returns a function that deletes them.
func crowd(t *testing.T, w *World, nodes []string) (clear func()) {
	t.Helper()
	c := w.Client("unrelated")
	var made []string
	for _, node := range nodes {
		for i := range 70 { // of a kilobyte each; 64 is the limit
			junk := fmt.Sprintf("%s/%s%d", node[:strings.LastIndexByte(node, '/')], strings.Repeat("x", 1<<10), i)
			_, err := c.Create(t.Context(), junk, nil, framework.Ephemeral)
			require.NoError(t, err)
			made = append(made, junk)
		}
	}
	return func() {
		for _, junk := range made {
			w.Remove(c, junk)
		}
	}
}

// An answer that is larger than the client takes fails the one Acquire that needs it.
func listingTooLarge(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	a := r.New(c, path)
	first := w.Acquire(a)
	node := first.Path()
	release(t, first)
	held := w.Acquire(r.New(c, path+"-other"))
	clear := crowd(t, w, []string{node})
	w.Server.ResetCounts()
	leavesNothing(t, w, func() {
		for _, timeout := range []time.Duration{0, 10 * time.Second, lease.Forever} {
			tried := w.Start(a, timeout)
			err := tried.Failed()
			require.ErrorIs(t, err, framework.ErrReplyTooLarge)
			require.ErrorContains(t, err, "the limit is 65536")
			require.Less(t, tried.Took, 100*time.Millisecond)
		}
	})
	require.Zero(t, w.Server.CountOf("a", zktest.OpConnect), "the connection goes on")
	listings := 3
	if _, ok := w.Server.Node(path + "/locks"); ok {
		listings += 2 // of the queue for permits
	}
	if r.Locks > 1 {
		listings += r.Locks // of the one try to take all at once
	}
	require.Equal(t, listings, w.Server.CountOf("a", zktest.OpGetChildren2), "no listing is repeated")
	require.NoError(t, held.Err())
	clear()
	release(t, held, w.Acquire(a))
}

// The error of a wait that times out includes the last failure during the wait.
func timesOutAfterAFailure(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	c := w.Client("a")
	tried := w.Start(r.New(c, path), 10*time.Second)
	w.After(time.Second)
	w.Expire(c)
	var timeout *lease.TimeoutError
	require.ErrorAs(t, tried.Failed(), &timeout)
	require.Positive(t, timeout.Ahead)
	require.ErrorIs(t, timeout.Err, framework.ErrSessionExpired)
	require.ErrorContains(t, timeout, "; last failure: ")
	release(t, held...)
}
