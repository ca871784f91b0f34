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

// Rows with clients that have credentials and clients that have none.
var credentials = rows{
	"clients with and without credentials in one queue": mixedCredentials,
	"clients without credentials on a protected path":   protectedPath,
	"a downgrade keeps the credentials":                 downgradeKeepsCredentials,
	"a path open to clients without credentials":        openPathIsWarnedOf,
}

func withCredential(cfg *framework.Config) {
	cfg.Auth = []framework.Credential{framework.DigestAuth("us", "hunter2")}
}

func ownedBelowPath(cfg *framework.Config) {
	withCredential(cfg)
	cfg.ACL = framework.OwnedBelow(path)
}

// contendersAreProtected checks that other clients may read a client's nodes, and may
// do nothing else to them.
func contendersAreProtected(t *testing.T, w *World, who string) {
	t.Helper()
	plain, found := w.Known("plain"), 0
	for _, s := range w.Server.Sessions() {
		if s.Client != who {
			continue
		}
		for _, node := range s.Ephemeral {
			found++
			_, stat, err := plain.Get(t.Context(), node)
			require.NoError(t, err)
			_, err = plain.Set(t.Context(), node, nil, stat.Version)
			require.ErrorIs(t, err, framework.ErrNoAuth)
			_, err = plain.SetACL(t.Context(), node, framework.WorldACL(framework.PermAll), framework.AnyVersion)
			require.ErrorIs(t, err, framework.ErrNoAuth)
		}
	}
	require.Positive(t, found)
}

// mixedCredentials has clients with credentials and without contend for an open path.
func mixedCredentials(t *testing.T, w *World, r Recipe) {
	plain := w.Client("plain")
	block := r.Block
	if block == nil {
		block = r.New
	}
	ours := w.Client("ours", withCredential)
	held := []*lease.Lease{w.Acquire(block(ours, path))}
	for len(held) < r.Slots && r.Block == nil {
		held = append(held, w.Acquire(r.New(ours, path)))
	}
	w.Settle()
	contendersAreProtected(t, w, "ours")
	require.NoError(t, held[0].Confirm(t.Context()))
	_, err := ours.Multi(t.Context(), held[0].Check())
	require.NoError(t, err)
	_, err = plain.Multi(t.Context(), held[0].Check())
	require.NoError(t, err, "a check needs the permission to read")
	theirs := w.Start(r.New(plain, path), lease.Forever)
	require.True(t, theirs.Waiting())
	behind := w.Start(block(w.Client("ours too", withCredential), path), lease.Forever)
	require.True(t, behind.Waiting())
	contendersAreProtected(t, w, "ours too")

	err = lease.RequestRevocation(t.Context(), plain, held[0].Path())
	require.ErrorIs(t, err, framework.ErrNoAuth)
	require.ErrorContains(t, err, "only with the credentials of its holder")
	w.Settle()
	require.False(t, Closed(held[0].RevocationRequested()), "a client without credentials has requested a revocation")
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

// downgradeKeepsCredentials acquires the read side under a write lease with
// credentials.
func downgradeKeepsCredentials(t *testing.T, w *World, r Recipe) {
	if r.Readers == nil {
		return
	}
	w.Client("plain")
	ours := w.Client("ours", withCredential)
	held := w.Acquire(r.New(ours, path))
	reading := w.StartWith(held.Context(), r.Readers(ours, path), 0).Granted()
	contendersAreProtected(t, w, "ours")
	release(t, held, reading)
}

// protectedPath restricts the path to clients with the credentials.
func protectedPath(t *testing.T, w *World, r Recipe) {
	plain := w.Client("plain")
	var log bytes.Buffer
	ours := w.Client("ours", ownedBelowPath, func(cfg *framework.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	held := w.Acquire(r.New(ours, path))
	w.Settle()
	require.ErrorIs(t, plain.Delete(t.Context(), held.Path(), framework.AnyVersion), framework.ErrNoAuth)
	contendersAreProtected(t, w, "ours")
	leavesNothing(t, w, func() {
		require.ErrorIs(t, w.Start(r.New(plain, path), time.Hour).Failed(), framework.ErrNoAuth)
	})
	release(t, held)
	held = w.Acquire(r.New(ours, path))
	w.Server.DropConnections("ours")
	w.After(time.Second)
	release(t, held)
	release(t, w.Acquire(r.New(w.Client("ours too", ownedBelowPath), path)))
	require.NotContains(t, log.String(), notProtected)
}

// notProtected begins the warning.
const notProtected = "not protected by the credentials"

// openPathIsWarnedOf counts the warnings and their requests.
func openPathIsWarnedOf(t *testing.T, w *World, r Recipe) {
	var log bytes.Buffer
	logging := func(cfg *framework.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) }
	release(t, w.Acquire(r.New(w.Client("plain", logging), path)))
	require.NotContains(t, log.String(), notProtected)
	require.Zero(t, w.Server.Count(zktest.OpGetACL), "a client without credentials does not look")
	ours := w.Client("ours", withCredential, logging)
	for range 3 {
		release(t, w.Acquire(r.New(ours, path)))
		w.Settle()
	}
	protected := w.Server.Count(zktest.OpGetACL)
	require.Contains(t, []int{1, 2, 3}, protected, "one for each parent of contenders")
	require.Equal(t, protected, strings.Count(log.String(), notProtected))
	require.Contains(t, log.String(), "path="+path+" open=world:anyone:cdrwa ")
	require.NotContains(t, log.String(), "hunter2")

	// The answer makes no difference to Acquire.
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
