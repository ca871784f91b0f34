package mutex_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

var errCalledOff = errors.New("called off")

// enqueue starts that many waiters, and does not wait for any of them.
func enqueue(t *testing.T, c *framework.Client, n int) (paths []string) {
	t.Helper()
	require.NoError(t, c.CreateParents(t.Context(), path+"/x"))
	for i := range n {
		made, err := c.Create(t.Context(), path+"/lock-", fmt.Appendf(nil, `{"who":"number %d"}`, i), framework.EphemeralSequential)
		require.NoError(t, err)
		paths = append(paths, made.Path)
	}
	return paths
}

// far delays the answer to each read of a node.
func far(w *conformance.World, client string, away time.Duration) {
	w.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Client == client && c.Op == zktest.OpGetData && c.Phase == zktest.PhaseAfterApply {
			return zktest.Delay(away)
		}
		return zktest.Pass
	})
}

// A long queue of a distant server is listed in order, with a bounded number of reads
// at a time.
func TestContendersOfALongQueue(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		roomy := func(c *framework.Config) { c.MaxReplyBytes, c.MaxRequestBytes = 0, 0 }
		other, a := w.Client("other", roomy), w.Client("a", roomy)
		made := enqueue(t, other, 1000)
		w.After(time.Second)
		far(w, "a", 20*time.Millisecond)
		w.Server.ResetCounts()
		var list []lease.Contender
		done := make(chan error, 1)
		began := time.Now()
		m := newMutex(t, a)
		go func() {
			var err error
			list, err = m.Contenders(t.Context())
			done <- err
		}()
		w.After(10 * time.Millisecond)
		require.Equal(t, 16, w.Server.Count(zktest.OpGetData), "are under way at once")
		w.After(20 * time.Millisecond)
		require.Equal(t, 32, w.Server.Count(zktest.OpGetData))
		require.NoError(t, <-done)
		took := time.Since(began)
		require.Len(t, list, 1000)
		for i, c := range list {
			require.Equal(t, made[i], c.Path)
			require.Equal(t, fmt.Sprintf("number %d", i), c.Holder.Who)
			require.Equal(t, i == 0, c.Holding)
		}
		require.Less(t, took, 2*time.Second)
		t.Logf("1,000 contenders 20 ms away take %v", took)
	})
}

// Contenders that leave while the queue is listed are left out, and no others.
func TestContendersThatLeaveMeanwhile(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		other, a := w.Client("other"), w.Client("a")
		made := enqueue(t, other, 100)
		far(w, "a", 20*time.Millisecond)
		done := make(chan []lease.Contender, 1)
		m := newMutex(t, a)
		go func() {
			list, err := m.Contenders(t.Context())
			if err != nil {
				t.Error(err)
			}
			done <- list
		}()
		w.After(30 * time.Millisecond)
		var stay []string
		for i, node := range made {
			if i%3 == 0 && i > 50 {
				w.Remove(other, node)
			} else {
				stay = append(stay, node)
			}
		}
		list := <-done
		var found []string
		for _, c := range list {
			found = append(found, c.Path)
		}
		require.Equal(t, stay, found)
	})
}

// The first failure is returned at once and alone, and then no request is under way.
func TestContendersWithAnUnreadableNode(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		other, a := w.Client("other"), w.Client("a")
		made := enqueue(t, other, 100)
		far(w, "a", 20*time.Millisecond)
		w.Server.On(zktest.OpGetData, made[7]).Before().Fail(zktest.NoAuth)
		w.Server.ResetCounts()
		_, err := newMutex(t, a).Contenders(t.Context())
		require.ErrorIs(t, err, framework.ErrNoAuth)
		require.ErrorContains(t, err, "list contenders of "+path+": get "+made[7])
		require.NotContains(t, err.Error(), "\n")
		require.Equal(t, 1, strings.Count(err.Error(), "get "))
		w.Settle() // what was sent before arrives
		asked := w.Server.Count(zktest.OpGetData)
		require.Less(t, asked, 50, "the other reads are cancelled")
		w.After(time.Second)
		require.Equal(t, asked, w.Server.Count(zktest.OpGetData))

		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(30*time.Millisecond, func() { cancel(errCalledOff) })
		began := time.Now()
		_, err = newMutex(t, a).Contenders(ctx)
		require.ErrorIs(t, err, errCalledOff)
		require.Equal(t, 30*time.Millisecond, time.Since(began))
		w.Server.SetFaults(nil)
		list, err := newMutex(t, a).Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 100)
	})
}

// While a long queue is listed, the session can do other work, also with a low limit on
// concurrent requests.
func TestContendersLetOtherRequestsPass(t *testing.T) {
	for _, outstanding := range []int{0, 2} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			other, a := w.Client("other"), w.Client("a", func(cfg *framework.Config) { cfg.MaxOutstanding = outstanding })
			enqueue(t, other, 500)
			m, err := mutex.New(a, "/locks/free")
			require.NoError(t, err)
			require.NoError(t, w.Acquire(m).Release())
			far(w, "a", 20*time.Millisecond)
			done := make(chan error, 1)
			crowded := newMutex(t, a)
			go func() {
				_, err := crowded.Contenders(t.Context())
				done <- err
			}()
			w.After(30 * time.Millisecond)
			at := w.Start(m, time.Minute)
			held := at.Granted()
			require.Less(t, at.Took, 500*time.Millisecond)
			require.Empty(t, done, "the listing ended too early for this test")
			require.NoError(t, held.Release())
			require.NoError(t, <-done)
		})
	}
}
