package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// What a holder sees and does in the main session of its client, when its lease is of a
// further one.

var sessionOrder = rows{
	"a holder reads in a session that lags behind that of its lease": holderReadsBehindTheGrant,
	"a holder reads in a session that is with an old leader":         holderReadsWithAnOldLeader,
	"a holder cannot read while its main session cannot catch up":    catchingUpFails,
	"only the first read behind a grant waits":                       onlyTheFirstReadWaits,
	"an acquire at once comes behind the release in another session": atOnceBehindARelease,
}

var sessionOrderOfHandovers = rows{
	"a late write comes behind the delete, in a further session":          inFurther(lateWriteComesBehind),
	"a late write is sent over the next connection, in a further session": inFurther(lateWriteAfterBreak),
	"a late write of another process, in a further session":               inFurther(lateWriteOfAnother),
	"a confirmation waits for the delete, in a further session":           inFurther(confirmAwaitsDelete),
}

// inFurther runs a row with a client "a" whose leases are of a further session.
func inFurther(test row) row {
	return func(t *testing.T, w *World, r Recipe) {
		fullClient(w, r, "a")
		test(t, w, r)
		require.Len(t, sessionsOf(w, "a"), 2)
	}
}

// fullClient returns a client "a" whose main session has no room. The connections of
// the further one may have another name.
func fullClient(w *World, r Recipe, further string) *framework.Client {
	w.T.Helper()
	c := w.Client("a", roomFor(r, 20), dialFurtherAs(w, further, 2))
	for n := 1000 * (max(r.Nodes, 1) + 1); ; n -= 50 {
		_, err := c.Create(w.T.Context(), "/"+strings.Repeat("x", n), nil, framework.Ephemeral)
		if err == nil {
			break
		}
		require.ErrorIs(w.T, err, framework.ErrTooManyEphemerals)
	}
	return c
}

// heldByAnother has client "b" hold all slots, and "a" wait. b writes before it
// releases them.
func heldByAnother(t *testing.T, w *World, r Recipe) (a *framework.Client, next *Attempt, free func()) {
	t.Helper()
	a = fullClient(w, r, "further")
	_, err := a.Create(t.Context(), "/data", []byte("old"), framework.Persistent)
	require.NoError(t, err)
	held := fill(w, r)
	next = w.Start(r.New(a, path), lease.Forever)
	w.After(time.Second)
	w.Server.Lag("a", true)
	return a, next, func() {
		_, err := w.Client("b").Set(t.Context(), "/data", []byte("new"), framework.AnyVersion)
		require.NoError(t, err)
		release(t, held...)
	}
}

func holderReadsBehindTheGrant(t *testing.T, w *World, r Recipe) {
	a, next, free := heldByAnother(t, w, r)
	free()
	got := next.Granted()
	require.NotEqual(t, a.Session().ID(), ownerOf(w, got.Path()))
	data, _, err := a.Get(t.Context(), "/data")
	require.NoError(t, err)
	require.Equal(t, "new", string(data))
	release(t, got)
}

// The server of the main session answers reads and syncs, and has no quorum.
func holderReadsWithAnOldLeader(t *testing.T, w *World, r Recipe) {
	a, next, free := heldByAnother(t, w, r)
	w.Server.Lag("a", false)
	w.Settle()
	minority := w.Server.Split("a")
	t.Cleanup(minority.End)
	free()
	got := next.Granted()
	var data []byte
	read := make(chan error, 1)
	go func() {
		var err error
		data, _, err = a.Get(t.Context(), "/data")
		read <- err
	}()
	w.After(SessionTimeout / 8)
	select {
	case err := <-read:
		require.FailNow(t, "read behind the old leader", "%q %v", data, err)
	default:
	}
	minority.Return("a")
	require.NoError(t, <-read)
	require.Equal(t, "new", string(data))
	require.NoError(t, got.Err())
	release(t, got)
}

func catchingUpFails(t *testing.T, w *World, r Recipe) {
	for _, strike := range []func(*zktest.Rule){
		func(rule *zktest.Rule) { rule.Cut() },
		func(rule *zktest.Rule) { rule.After().Cut() },
		func(rule *zktest.Rule) { rule.Mute() },
		func(rule *zktest.Rule) { rule.Fail(zktest.ThrottledOp) },
		func(rule *zktest.Rule) { rule.After().Expire() },
	} {
		a, next, free := heldByAnother(t, w, r)
		free()
		got := next.Granted()
		rule := w.Server.On(zktest.OpMulti, "").Client("a")
		strike(rule)
		data, _, err := a.Get(t.Context(), "/data")
		require.NoError(t, err)
		require.Equal(t, "new", string(data))
		<-rule.Fired()
		require.NoError(t, got.Err())
		release(t, got)
		w.Server.Lag("a", false)
		w.CloseAll()
		w.Remove(w.Client("b"), "/data")
	}
}

// commits counts the transactions by which the main session of a client "a" has caught
// up with others.
func commits(w *World) (n int) {
	for _, e := range w.Server.Trace() {
		if e.Client == "a" && e.Op == zktest.OpMulti && e.Path == "/" {
			n++
		}
	}
	return n
}

func onlyTheFirstReadWaits(t *testing.T, w *World, r Recipe) {
	a, next, free := heldByAnother(t, w, r)
	free()
	got := next.Granted()
	read := func() (transactions int) {
		before := commits(w)
		_, _, err := a.Get(t.Context(), "/data")
		require.NoError(t, err)
		return commits(w) - before
	}
	require.Equal(t, 1, read())
	require.Zero(t, read())
	other := w.Acquire(r.New(a, path+"/other"))
	require.Equal(t, 1, read())
	require.Zero(t, read())
	release(t, other)
	require.Zero(t, read())

	for _, node := range w.Ephemerals("/xx") {
		require.NoError(t, a.Delete(t.Context(), node, framework.AnyVersion))
	}
	again := w.Start(r.next()(a, path), lease.Forever)
	release(t, got)
	before := commits(w)
	inMain := w.Acquire(r.New(a, path+"/main"))
	require.Equal(t, a.Session().ID(), ownerOf(w, inMain.Path()))
	require.Equal(t, before, commits(w), "what recipes do themselves does not wait")
	again.Granted()
	if !r.Spread {
		require.NotEqual(t, a.Session().ID(), ownerOf(w, again.Lease.Path()))
	}
	release(t, inMain, again.Lease)
}

// The server of the main session lags behind the one in which the client has just
// released.
func atOnceBehindARelease(t *testing.T, w *World, r Recipe) {
	a := fullClient(w, r, "further")
	held := w.Acquire(r.New(a, path))
	require.NotEqual(t, a.Session().ID(), ownerOf(w, held.Path()))
	for _, node := range w.Ephemerals("/xx") {
		require.NoError(t, a.Delete(t.Context(), node, framework.AnyVersion))
	}
	w.Server.Lag("a", true)
	release(t, held)
	again, err := r.New(a, path).Acquire(t.Context(), 0)
	require.NoError(t, err)
	if !r.Async { // else its last node may still be in the further session
		require.Equal(t, a.Session().ID(), ownerOf(w, again.Path()))
	}
	release(t, again)
	w.Server.Lag("a", false)
}
