package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows about the writes of a holder whose slot was handed over within its session.
var handoverWrites = rows{
	"a check of a released lease is refused at once":      releasedCheckIsRefused,
	"a late write comes behind the delete":                lateWriteComesBehind,
	"a late write is sent over the next connection":       lateWriteAfterBreak,
	"a release that cannot be sent hands nothing over":    releaseIsNotSent,
	"a confirmation waits for the delete before it":       confirmAwaitsDelete,
	"a late write of another process fails after Confirm": lateWriteOfAnother,
	"a check before the release, and a write during that": writeDuringRelease,
}

var lateWrite = framework.CreateOp("/written", nil, framework.Persistent)

// releasedCheckIsRefused writes with the Check of a lease whose node still stands.
func releasedCheckIsRefused(t *testing.T, w *World, r Recipe) {
	c := newParty(w, r)
	a, b := w.Known("a"), w.Known("b")
	w.Server.On(zktest.OpDelete, c.held.Path()).Client("a").Delay(900 * time.Millisecond)
	freed := w.freeing(c.held)
	got := c.next.Granted()
	w.Server.ResetCounts()
	for _, client := range []*framework.Client{a, a.In(a.Session()), b} {
		results, err := client.Multi(t.Context(), framework.CheckOp("/", framework.AnyVersion), c.held.Check(), lateWrite)
		require.ErrorIs(t, err, framework.ErrNoNode)
		require.ErrorIs(t, err, lease.ErrReleased)
		require.Equal(t, framework.Failed, framework.OutcomeOf(err))
		require.Len(t, results, 3)
		require.ErrorIs(t, results[1].Err, framework.ErrNoNode)
	}
	require.Zero(t, w.Server.Count(zktest.OpMulti), "nothing is sent")
	require.True(t, w.stands(c.held))
	_, err := a.Multi(t.Context(), got.Check(), lateWrite)
	require.NoError(t, err, "the next holder may write")
	require.NoError(t, <-freed)
	c.drain(got)
}

// lateWriteComesBehind writes with a check that the old holder has made itself.
func lateWriteComesBehind(t *testing.T, w *World, r Recipe) {
	c := newParty(w, r)
	w.Server.On(zktest.OpDelete, c.held.Path()).Client("a").Delay(500 * time.Millisecond)
	check := framework.CheckOp(c.held.Path(), framework.AnyVersion)
	freed := w.freeing(c.held)
	got := c.next.Granted()
	require.True(t, w.stands(c.held))
	_, err := w.Known("a").Multi(t.Context(), check, lateWrite)
	require.ErrorIs(t, err, framework.ErrNoNode)
	require.NoError(t, <-freed)
	c.drain(got)
}

// lateWriteAfterBreak has the delete be lost with the connection.
func lateWriteAfterBreak(t *testing.T, w *World, r Recipe) {
	for _, strike := range []func(*zktest.Rule){
		func(rule *zktest.Rule) { rule.Before().Cut() },
		func(rule *zktest.Rule) { rule.Before().Mute() },
	} {
		c := newParty(w, r)
		a := w.Known("a")
		strike(w.Server.On(zktest.OpDelete, c.held.Path()).Client("a"))
		check := framework.CheckOp(c.held.Path(), framework.AnyVersion)
		freed := w.freeing(c.held)
		_, err := a.Multi(t.Context(), check, lateWrite)
		require.Error(t, err)
		if framework.OutcomeOf(err) == framework.Unknown {
			_, err = a.Multi(t.Context(), check, lateWrite)
		}
		require.ErrorIs(t, err, framework.ErrNoNode)
		_, written := w.Server.Node("/written")
		require.False(t, written)
		require.NoError(t, <-freed)
		c.drain(c.next.Granted())
	}
}

// lateWriteOfAnother shows the limit: another process can write with a check of the old
// node until that is deleted. Confirm of the new lease waits for that.
func lateWriteOfAnother(t *testing.T, w *World, r Recipe) {
	for _, strike := range []func(*zktest.Rule){
		func(rule *zktest.Rule) { rule.Before().Delay(900 * time.Millisecond) },
		func(rule *zktest.Rule) { rule.Before().Mute() },
	} {
		c := newParty(w, r)
		b := w.Known("b")
		strike(w.Server.On(zktest.OpDelete, c.held.Path()).Client("a"))
		check := framework.CheckOp(c.held.Path(), framework.AnyVersion)
		freed := w.freeing(c.held)
		got := c.next.Granted()
		_, err := b.Multi(t.Context(), check, lateWrite)
		require.NoError(t, err, "the node stands")
		w.Remove(b, "/written")
		require.NoError(t, got.Confirm(t.Context()))
		_, err = b.Multi(t.Context(), check, lateWrite)
		require.ErrorIs(t, err, framework.ErrNoNode)
		require.NoError(t, <-freed)
		c.drain(got)
	}
}

// releaseIsNotSent has as many requests as the client may send await their answers, so
// that the delete has to wait.
func releaseIsNotSent(t *testing.T, w *World, r Recipe) {
	const most = 8
	c := newParty(w, r, func(cfg *framework.Config) { cfg.MaxOutstanding = most })
	w.Server.On(zktest.OpExists, "/busy").Client("a").Delay(500 * time.Millisecond)
	for range most {
		go func() { _, _, _ = w.Known("a").Exists(t.Context(), "/busy") }()
	}
	w.Settle()
	freed := w.freeing(c.held)
	w.After(400 * time.Millisecond)
	require.True(t, c.next.Waiting())
	got := c.next.Granted()
	require.NoError(t, <-freed)
	c.drain(got)
}

// confirmAwaitsDelete has an overloaded server refuse the delete alone, so that it is
// repeated, and what is sent behind the first one comes before.
func confirmAwaitsDelete(t *testing.T, w *World, r Recipe) {
	c := newParty(w, r)
	refused := w.Server.On(zktest.OpDelete, c.held.Path()).Client("a").Always().Fail(zktest.ThrottledOp)
	freed := w.freeing(c.held)
	got := c.next.Granted()
	confirmed := make(chan error, 1)
	go func() { confirmed <- got.Confirm(t.Context()) }()
	w.After(300 * time.Millisecond)
	require.Empty(t, confirmed)
	require.True(t, w.stands(c.held))
	refused.Remove()
	require.NoError(t, <-confirmed)
	require.False(t, w.stands(c.held))
	require.NoError(t, <-freed)
	c.drain(got)
}

// writeDuringRelease begins a write with Check just before the release, and the next
// holder writes at once: the old holder's write does not come behind that.
func writeDuringRelease(t *testing.T, w *World, r Recipe) {
	b := w.Named("b")
	_, err := b.Create(t.Context(), "/data", nil, framework.Persistent)
	require.NoError(t, err)
	for range 20 {
		c := newParty(w, r)
		a := w.Known("a")
		late := make(chan error, 1)
		go func() {
			_, err := a.Multi(t.Context(), c.held.Check(), framework.SetOp("/data", []byte("old"), framework.AnyVersion))
			late <- err
		}()
		freed := w.beginFreeing(c.held)
		got := c.next.Granted()
		_, err := a.Set(t.Context(), "/data", []byte("new"), framework.AnyVersion)
		require.NoError(t, err)
		if err := <-late; err != nil {
			require.ErrorIs(t, err, framework.ErrNoNode)
		}
		data, _, err := b.Get(t.Context(), "/data")
		require.NoError(t, err)
		require.Equal(t, "new", string(data))
		require.NoError(t, <-freed)
		c.drain(got)
	}
}
