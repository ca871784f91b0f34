//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Whatever happens to the delete, the node is gone in the end, or that is not known.
func TestForceOfUnknownOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		strike  func(*zktest.Rule)
		certain bool
	}{
		"cut before":     {func(r *zktest.Rule) { r.Before().Cut() }, true},
		"cut after":      {func(r *zktest.Rule) { r.After().Cut() }, false},
		"expired before": {func(r *zktest.Rule) { r.Before().Expire() }, true},
		"expired after":  {func(r *zktest.Rule) { r.After().Expire() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := zktest.NewServer(t)
			m, err := mutex.New(connectClient(t, server), testLock)
			require.NoError(t, err)
			held := acquired(t, m)
			test.strike(server.On(zktest.OpMulti, testLock))
			code, stdout, stderr := force(t, server, "--node", held.Token().String())
			require.Equal(t, 0, code, stderr)
			require.Contains(t, stdout, "taken away: ")
			require.Equal(t, test.certain, !strings.Contains(stdout, "or released at that moment"), stdout)
			lostTo(t, held)
		})
	}
}

// It gives up before the client, which would connect again and ask what has happened.
func TestForceWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	m, err := mutex.New(connectClient(t, server), testLock)
	require.NoError(t, err)
	held := acquired(t, m)
	server.On(zktest.OpMulti, testLock).After().DropReply()
	code, stdout, stderr := force(t, server, "--node", held.Token().String(), "--timeout", "5s")
	require.Equal(t, exitUnavailable, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "it is not known whether it was taken away")
	lostTo(t, held)
}

// foreignNode is a contender of another client, which uses the same id each time.
const foreignNode = testLock + "/_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000000"

// What happens between the look and the delete: only the node that was seen is deleted.
func TestForceDeletesTheNodeThatItHasSeen(t *testing.T) {
	leaves := func(ctx context.Context, c *framework.Client) error {
		return c.Delete(ctx, foreignNode, framework.AnyVersion)
	}
	comesBack := func(ctx context.Context, c *framework.Client) error {
		err := errors.Join(leaves(ctx, c), c.Delete(ctx, testLock, framework.AnyVersion), c.CreateParents(ctx, foreignNode))
		_, failed := c.Create(ctx, foreignNode, nil, framework.Ephemeral)
		return errors.Join(err, failed)
	}
	for name, test := range map[string]struct {
		op    zktest.Op // before which it happens
		does  func(ctx context.Context, c *framework.Client) error
		stays bool
	}{
		"it is released before the guard is made": {zktest.OpCreate, leaves, false},
		"it is released before the delete":        {zktest.OpMulti, leaves, false},
		"the path is removed before the guard is made": {zktest.OpCreate, func(ctx context.Context, c *framework.Client) error {
			return errors.Join(leaves(ctx, c), c.Delete(ctx, testLock, framework.AnyVersion))
		}, false},
		"it comes back before the guard is made": {zktest.OpCreate, comesBack, true},
		"the path cannot be made again before the delete": {zktest.OpMulti, func(ctx context.Context, c *framework.Client) error {
			if err := comesBack(ctx, c); !errors.Is(err, framework.ErrNotEmpty) {
				return fmt.Errorf("the path is made again: %w", err)
			}
			return c.Delete(ctx, foreignNode, framework.AnyVersion) // which no client makes by its whole name
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := zktest.NewServer(t)
			client := connectClient(t, server)
			require.NoError(t, client.CreateParents(t.Context(), foreignNode))
			_, err := client.Create(t.Context(), foreignNode, nil, framework.Ephemeral)
			require.NoError(t, err)
			token := listed(t, server, testLock).Queue[0].Token.String()
			result := make(chan error, 1)
			beforeFirst(server, test.op, testLock+"/", func() { result <- test.does(t.Context(), client) })
			code, stdout, stderr := force(t, server, "--node", token)
			require.NoError(t, <-result)
			require.Equal(t, exitNoContender, code, stderr)
			require.Empty(t, stdout)
			require.Contains(t, stderr, "nothing was taken away: it has been released meanwhile")
			_, ok := server.Node(foreignNode)
			require.Equal(t, test.stays, ok)
		})
	}
}

// Another client removes the guard: then it is made again.
func TestForceWithoutItsGuard(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	m, err := mutex.New(client, testLock)
	require.NoError(t, err)
	held := acquired(t, m)
	result := make(chan error, 1)
	beforeFirst(server, zktest.OpMulti, testLock+"/", func() {
		children := server.Children(testLock)
		i := slices.IndexFunc(children, func(child string) bool { return strings.HasSuffix(child, guardName) })
		result <- client.Delete(t.Context(), testLock+"/"+children[max(i, 0)], framework.AnyVersion)
	})
	code, stdout, stderr := force(t, server, "--node", held.Token().String())
	require.NoError(t, <-result)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "taken away: ")
	lostTo(t, held)
}

// The node of another client may have children; then it cannot be deleted.
func TestForceOfANodeThatHasChildren(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	require.NoError(t, client.CreateParents(t.Context(), foreignNode+"/x"))
	code, stdout, stderr := force(t, server, "--node", listed(t, server, testLock).Queue[0].Token.String())
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "taken away: ")
	require.NoError(t, client.CreateParents(t.Context(), foreignNode+"/x/y"))
	code, stdout, stderr = force(t, server, "--node", listed(t, server, testLock).Queue[0].Token.String())
	require.Equal(t, exitUnavailable, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, framework.ErrNotEmpty.Error())
}
