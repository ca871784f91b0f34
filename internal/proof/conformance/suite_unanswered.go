package conformance

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows with a write that a holder has given up. Its lease is of a further session, and
// the write of the main one: what is carried out is carried out before the next grant.

var unansweredWrites = rows{
	"a write that was given up comes before the delete":             givenUpBeforeTheDelete,
	"a write that was given up comes before the delete, with Close": givenUpBeforeTheClose,
	"a release waits while the main session is with an old leader":  releaseWaitsForAQuorum,
	"a release waits until its main session is over":                releaseWaitsForTheEnd,
	"a release goes on when a write that broke off is settled":      releaseAfterABreak,
	"only the first release behind a write that was given up waits": onlyTheFirstReleaseWaits,
}

// An abandoned write is one of a holder "a", whose lease is of a further session, that
// has not been answered. "b" waits for the slot.
type abandoned struct {
	client *framework.Client
	held   *lease.Lease
	next   *Attempt
	others []*lease.Lease // of the slots besides
}

// abandon has strike act on the write.
func abandon(t *testing.T, w *World, r Recipe, strike func(*zktest.Rule)) abandoned {
	t.Helper()
	g := abandoned{client: fullClient(w, r, "further")}
	_, err := g.client.Create(t.Context(), "/data", []byte("old"), framework.Persistent)
	require.NoError(t, err)
	g.held = w.Acquire(r.New(g.client, path))
	require.NotEqual(t, g.client.Session().ID(), ownerOf(w, g.held.Path()))
	require.NoError(t, g.client.Sync(t.Context(), "/"))
	for i := range max(r.Slots, 1) - 1 {
		g.others = append(g.others, w.Acquire(r.New(w.Named(fmt.Sprint("other", i)), path)))
	}
	g.next = w.Start(r.next()(w.Client("b"), path), lease.Forever)
	require.True(t, g.next.Waiting())
	strike(w.Server.On(zktest.OpSetData, "/data").Client("a"))
	g.write(t)
	return g
}

// write begins a write, and gives it up.
func (g abandoned) write(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := g.client.Set(ctx, "/data", []byte("of the first holder"), framework.AnyVersion)
	require.Equal(t, framework.Unknown, framework.OutcomeOf(err))
}

// granted checks that the write, which was carried out, does not come under the lease
// of the next holder.
func (g abandoned) granted(t *testing.T, w *World) {
	t.Helper()
	got := g.next.Granted()
	b := w.Known("b")
	data, _, err := b.Get(t.Context(), "/data")
	require.NoError(t, err)
	require.Equal(t, "of the first holder", string(data))
	_, err = b.Set(t.Context(), "/data", []byte("of the next"), framework.AnyVersion)
	require.NoError(t, err)
	w.After(2 * SessionTimeout)
	data, _, err = b.Get(t.Context(), "/data")
	require.NoError(t, err)
	require.Equal(t, "of the next", string(data))
	release(t, append(g.others, got)...)
}

func late(rule *zktest.Rule) { rule.Delay(SessionTimeout / 8) }

func givenUpBeforeTheDelete(t *testing.T, w *World, r Recipe) {
	g := abandon(t, w, r, late)
	freed := w.freeing(g.held)
	g.granted(t, w)
	require.NoError(t, <-freed)
}

func givenUpBeforeTheClose(t *testing.T, w *World, r Recipe) {
	g := abandon(t, w, r, late)
	closed := make(chan error, 1)
	go func() { closed <- g.client.Close() }()
	g.granted(t, w)
	require.NoError(t, <-closed)
}

// The old leader answers syncs, and no writes.
func releaseWaitsForAQuorum(t *testing.T, w *World, r Recipe) {
	var minority *zktest.Minority
	g := abandon(t, w, r, func(*zktest.Rule) { minority = w.Server.Split("a") })
	t.Cleanup(minority.End)
	freed := w.freeing(g.held)
	w.After(SessionTimeout) // it has connected again and again, to the same leader
	require.NoError(t, g.client.Session().Err())
	require.True(t, w.stands(g.held))
	minority.Return("a")
	require.NoError(t, <-freed)
	release(t, append(g.others, g.next.Granted())...)
}

// The main session is lost here before it is over on the server.
func releaseWaitsForTheEnd(t *testing.T, w *World, r Recipe) {
	g := abandon(t, w, r, func(rule *zktest.Rule) { rule.Mute() })
	main := g.client.Session()
	w.Server.Partition("a", true)
	freed := w.freeing(g.held)
	<-main.Done()
	w.Settle()
	require.True(t, w.stands(g.held))
	require.Contains(t, sessionsOf(w, "a"), main.ID())
	w.Server.Partition("a", false)
	require.NoError(t, <-freed)
	got := g.next.Granted()
	require.NotContains(t, sessionsOf(w, "a"), main.ID())
	release(t, append(g.others, got)...)
}

func releaseAfterABreak(t *testing.T, w *World, r Recipe) {
	for _, strike := range []func(*zktest.Rule){
		func(rule *zktest.Rule) { rule.Mute() },
		func(rule *zktest.Rule) { rule.After().Mute() },
		func(rule *zktest.Rule) { rule.After().Expire() },
	} {
		g := abandon(t, w, r, strike)
		release(t, g.held)
		release(t, append(g.others, g.next.Granted())...)
		w.CloseAll()
		w.Remove(w.Client("b"), "/data")
	}
}

func onlyTheFirstReleaseWaits(t *testing.T, w *World, r Recipe) {
	g := abandon(t, w, r, late)
	release(t, g.held)
	release(t, append(g.others, g.next.Granted())...)
	again := w.Acquire(r.New(g.client, path))
	before := commits(w)
	release(t, again)
	require.Equal(t, before, commits(w))
}
