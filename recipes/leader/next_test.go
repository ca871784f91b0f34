package leader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// ids returns the ids of the queue, in order.
func ids(t *testing.T, e *leader.Election) (ids []string) {
	t.Helper()
	all, err := e.Contenders(t.Context())
	require.NoError(t, err)
	for _, c := range all {
		ids = append(ids, c.Holder.Who)
	}
	return ids
}

// Those ahead of the named candidate join again behind it, in any order, and whoever
// was behind it stays there.
func TestNextIsTheNamedOne(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		office := newOffice()
		elections := map[string]*leader.Election{}
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			e := newElection(t, w.Client(id), id)
			elections[id] = e
			lead(w, e, office.until(id, 0))
		}
		a := office.next(t)
		w.After(time.Second)
		began := time.Now()
		present, err := elections["a"].MakeNext(t.Context(), "d")
		require.NoError(t, err)
		require.Less(t, time.Since(began), 100*time.Millisecond)
		require.Equal(t, a.Path(), present.Path)
		require.Equal(t, "a", present.Holder.Who)
		w.Settle()
		got := ids(t, elections["a"])
		require.Equal(t, []string{"a", "d", "e"}, got[:3])
		require.ElementsMatch(t, []string{"b", "c"}, got[3:])
		require.NoError(t, a.Err(), "the leader is not affected")
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Client("operator"), present.Path))
		office.next(t)
		require.Equal(t, []string{"a", "d"}, office.leaders())
		office.check(t)
	})
}

// Nothing is asked, and nobody moves, if the candidate does not wait.
func TestNextWithoutSuchACandidate(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		e := newElection(t, w.Client("a"), "a")
		_, err := e.MakeNext(t.Context(), "b")
		require.ErrorIs(t, err, leader.ErrNoCandidate)
		term := w.Acquire(e)
		_, err = e.MakeNext(t.Context(), "b")
		require.ErrorIs(t, err, leader.ErrNoCandidate)
		_, err = e.MakeNext(t.Context(), "a")
		require.ErrorIs(t, err, leader.ErrLeadsAlready)
		require.NoError(t, term.Release())
	})
}

// A candidate of Apache Curator is not passed, nor does it pass others: its LeaderLatch
// would not notice that the one ahead of it has left, once that was asked to.
func TestNextDoesNotPassALatchOfCurator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("b"), "b"), newElection(t, w.Client("c"), "c")
		term := w.Acquire(a)
		ours := w.Start(b, lease.Forever)
		java := w.Client("java")
		latch, err := java.Create(t.Context(), path+"/_c_01234567-89ab-4def-8123-456789abcdef-latch-", []byte("java1"), framework.EphemeralSequential)
		require.NoError(t, err)
		last := w.Start(c, lease.Forever)
		before := children(w)
		_, err = a.MakeNext(t.Context(), "c")
		require.ErrorIs(t, err, leader.ErrNotPassed)
		require.ErrorContains(t, err, "java1")
		w.Settle()
		require.Equal(t, before, children(w))
		_, err = a.MakeNext(t.Context(), "java1")
		require.ErrorIs(t, err, leader.ErrNotPassed)
		w.Settle()
		require.Equal(t, before, children(w))
		require.NoError(t, term.Release())
		leads := ours.Granted()
		present, err := a.MakeNext(t.Context(), "java1")
		require.NoError(t, err, "it is the next one already")
		require.Equal(t, leads.Path(), present.Path)
		require.NoError(t, leads.Release())
		present, err = a.MakeNext(t.Context(), "c")
		require.NoError(t, err)
		require.Equal(t, latch.Path, present.Path)
		for _, node := range children(w) {
			found, _ := w.Server.Node(path + "/" + node)
			require.NotContains(t, string(found.Data), "__", "nobody was asked")
		}
		w.Remove(java, latch.Path)
		require.NoError(t, last.Granted().Release())
	})
}

// A candidate that does not answer is waited for as long as the context says, and
// named.
func TestNextWaitsForACandidateThatDoesNotStepBack(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		w.Server.Partition("b", true)
		over := errors.New("no time left")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, over)
		defer cancel()
		_, err := q.operator.MakeNext(ctx, "c")
		require.ErrorIs(t, err, over)
		require.ErrorContains(t, err, "stepped back: token")
		_, err = q.operator.MakeNext(t.Context(), "c") // b's session ends
		require.NoError(t, err)
		require.NoError(t, q.term.Release())
		require.NoError(t, q.waiting["c"].Granted().Release())
		w.Server.Partition("b", false)
		require.NoError(t, q.waiting["b"].Granted().Release())
	})
}
