package conformance

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Clients with credentials, and strangers, who have none.
var strangers = rows{
	"clients with and without credentials in one queue": strangersInLine,
	"clients without credentials on a protected path":   strangersAreKeptOut,
	"a downgrade keeps the credentials":                 becomingAnother,
	"a path open to clients without credentials":        openPathIsWarnedOf,
}

func withCredential(cfg *framework.Config) {
	cfg.Auth = []framework.Credential{framework.DigestAuth("us", "hunter2")}
}

func ownedBelowPath(cfg *framework.Config) {
	withCredential(cfg)
	cfg.ACL = framework.OwnedBelow(path)
}

// contendersAreOurs looks whether others may read the nodes in line, and nothing else.
func contendersAreOurs(t *testing.T, w *World, who string) {
	t.Helper()
	stranger, found := w.Known("stranger"), 0
	for _, s := range w.Server.Sessions() {
		if s.Client != who {
			continue
		}
		for _, node := range s.Ephemeral {
			found++
			_, stat, err := stranger.Get(t.Context(), node)
			require.NoError(t, err)
			_, err = stranger.Set(t.Context(), node, nil, stat.Version)
			require.ErrorIs(t, err, framework.ErrNoAuth)
			_, err = stranger.SetACL(t.Context(), node, framework.WorldACL(framework.PermAll), framework.AnyVersion)
			require.ErrorIs(t, err, framework.ErrNoAuth)
		}
	}
	require.Positive(t, found)
}

// strangersInLine has clients with credentials and without contend for an open path.
func strangersInLine(t *testing.T, w *World, r Recipe) {
	stranger := w.Client("stranger")
	block := r.Block
	if block == nil {
		block = r.New
	}
	ours := w.Client("ours", withCredential)
	held := []*lease.Lease{w.Acquire(block(ours, path))}
	for len(held) < r.Places && r.Block == nil {
		held = append(held, w.Acquire(r.New(ours, path)))
	}
	contendersAreOurs(t, w, "ours")
	require.NoError(t, held[0].Confirm(t.Context()))
	_, err := ours.Multi(t.Context(), held[0].Check())
	require.NoError(t, err)
	_, err = stranger.Multi(t.Context(), held[0].Check())
	require.NoError(t, err, "to check is to read")
	theirs := w.Start(r.New(stranger, path), lease.Forever)
	require.True(t, theirs.Waiting())
	behind := w.Start(block(w.Client("ours too", withCredential), path), lease.Forever)
	require.True(t, behind.Waiting())
	contendersAreOurs(t, w, "ours too")

	err = lease.RequestRevocation(t.Context(), stranger, held[0].Path())
	require.ErrorIs(t, err, framework.ErrNoAuth)
	require.ErrorContains(t, err, "only with the credentials of its holder")
	w.Settle()
	require.False(t, Closed(held[0].RevocationRequested()), "a stranger has revoked a lease")
	require.NoError(t, lease.RequestRevocation(t.Context(), w.Known("ours too"), held[0].Path()))
	w.After(time.Second)
	<-held[0].RevocationRequested()

	w.Server.DropConnections("ours")
	w.After(time.Second)
	release(t, held...)
	got := theirs.Granted()
	require.NoError(t, got.Confirm(t.Context()))
	release(t, got)
	release(t, behind.Granted())
}

// becomingAnother acquires the other side of a recipe under a lease with credentials.
func becomingAnother(t *testing.T, w *World, r Recipe) {
	if r.Readers == nil {
		return
	}
	w.Client("stranger")
	ours := w.Client("ours", withCredential)
	held := w.Acquire(r.New(ours, path))
	reading := w.StartWith(held.Context(), r.Readers(ours, path), 0).Granted()
	contendersAreOurs(t, w, "ours")
	release(t, held, reading)
}

// strangersAreKeptOut has the path belong to the credentials.
func strangersAreKeptOut(t *testing.T, w *World, r Recipe) {
	stranger := w.Client("stranger")
	var log bytes.Buffer
	ours := w.Client("ours", ownedBelowPath, func(cfg *framework.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	held := w.Acquire(r.New(ours, path))
	w.Settle()
	require.ErrorIs(t, stranger.Delete(t.Context(), held.Path(), framework.AnyVersion), framework.ErrNoAuth)
	contendersAreOurs(t, w, "ours")
	leavesNothing(t, w, func() {
		require.ErrorIs(t, w.Start(r.New(stranger, path), time.Hour).Failed(), framework.ErrNoAuth)
	})
	release(t, held)
	held = w.Acquire(r.New(ours, path))
	w.Server.DropConnections("ours")
	w.After(time.Second)
	release(t, held)
	release(t, w.Acquire(r.New(w.Client("ours too", ownedBelowPath), path)))
	require.NotContains(t, log.String(), "strangers")
}

// openPathIsWarnedOf counts the warnings and what they cost.
func openPathIsWarnedOf(t *testing.T, w *World, r Recipe) {
	var log bytes.Buffer
	logging := func(cfg *framework.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) }
	release(t, w.Acquire(r.New(w.Client("plain", logging), path)))
	require.NotContains(t, log.String(), "strangers")
	require.Zero(t, w.Server.Count(zktest.OpGetACL), "without credentials nobody asks")
	ours := w.Client("ours", withCredential, logging)
	for range 3 {
		release(t, w.Acquire(r.New(ours, path)))
		w.Settle()
	}
	gates := w.Server.Count(zktest.OpGetACL)
	require.Contains(t, []int{1, 3}, gates, "one for each node under which they contend")
	require.Equal(t, gates, strings.Count(log.String(), "strangers"))
	require.Contains(t, log.String(), "path="+path+" open=world:anyone:cdrwa ")
	require.NotContains(t, log.String(), "hunter2")

	// What the answer is, is all the same to who acquires.
	w.Expire(ours)
	w.After(time.Second)
	rule := w.Server.On(zktest.OpGetACL, "").Always()
	rule.Fail(zktest.NoAuth)
	at := w.Start(r.New(ours, path), 0)
	require.NoError(t, at.Granted().Err())
	require.Zero(t, at.Took)
	release(t, at.Lease)
	<-rule.Fired()
	rule.Remove()
}
