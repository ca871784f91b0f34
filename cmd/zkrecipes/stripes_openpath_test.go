//go:build unix

package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// What zkrecipes has created without credentials is open, all of it, and one command
// closes it.
func TestOpenStripesAreRefused(t *testing.T) {
	server := zktest.NewServer(t)
	for _, p := range holdStripes(t, server, 3) {
		endPolitely(t, p)
	}
	env := []string{envServers + "=" + server.Addr(), envAuth + "=digest:me:hunter2"}
	args := slices.Concat([]string{"run", "--lock", testLock, "--stripes", "3"}, command("exit", "5"))
	code, _, stderr := invoke(t, env, args...)
	require.Equal(t, exitNoPerm, code)
	require.Contains(t, stderr, "as the ACL of "+testLock+" has world:anyone:cdrwa (and 3 more); to close it, ")
	require.Contains(t, stderr, ", then: setAcl -R "+testLock+" auth::cdrwa,world:anyone:r\n")

	ours := connectClient(t, server, us)
	closed := append(framework.CreatorACL(framework.PermAll), lookOnly...)
	for _, node := range []string{"", "/stripe-0000", "/stripe-0001"} {
		_, err := ours.SetACL(t.Context(), testLock+node, closed, framework.AnyVersion)
		require.NoError(t, err)
	}
	code, _, stderr = invoke(t, env, args...)
	require.Equal(t, exitNoPerm, code)
	require.Contains(t, stderr, "as the ACL of "+testLock+"/stripe-0002 has world:anyone:cdrwa; to close it, ")
	_, err := ours.SetACL(t.Context(), testLock+"/stripe-0002", closed, framework.AnyVersion)
	require.NoError(t, err)
	code, _, stderr = invoke(t, env, args...)
	require.Equal(t, 5, code, stderr)
	code, _, _ = invoke(t, env[:1], args...)
	require.Equal(t, exitNoPerm, code, "without credentials it is closed now")
}

// Another client creates the stripe that is taken after the check, and before we do.
func TestOpenStripeIsRefusedAfterTheWait(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		other := w.Client("other")
		j, f := virtualWith(t, w, "--stripes", "1")
		newRecipe := f.newRecipe
		j.newRecipe = func(client *framework.Client) (recipe, error) {
			c, err := newRecipe(client)
			acquire := c.acquire
			c.acquire = func(ctx context.Context, timeout time.Duration) (heldLease, error) {
				makeNode(t, other, testLock+"/stripe-0000", framework.WorldACL(framework.PermAll)...)
				return acquire(ctx, timeout)
			}
			return c, err
		}
		_, err := awaited(t, j, f)
		requireDenied(t, err, "the ACL of "+testLock+" has world:anyone:cdrwa (and 1 more); to close it")
		w.Settle()
		require.Empty(t, w.Ephemerals("/"), "the stripe is released")
	})
}
