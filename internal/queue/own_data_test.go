package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A position may wait for a node of its own session before the position of that node
// has looked at it, as when several come to the front of a crowd. Then what the node
// says was read already, and reaches its position all the same.
func TestOwnNodeThatAnotherPositionHasRead(t *testing.T) {
	for _, kind := range []string{znode.Mutex, znode.Latch} {
		t.Run(kind, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) { ownNodeIsRead(t, w, kind) })
		})
	}
}

func ownNodeIsRead(t *testing.T, w *conformance.World, kind string) {
	client, writer := w.Client("a"), w.Client("writer")
	_, err := writer.Create(t.Context(), path, nil, framework.Persistent)
	require.NoError(t, err)
	held, err := writer.Create(t.Context(), path+"/_c_01234567-89ab-4def-8123-456789abcdef-"+kind, nil, framework.EphemeralSequential)
	require.NoError(t, err)
	pinned := kit.Of(client).Within(client.Session())
	q := &queue.Queue{
		Client: pinned, Path: path, Kind: kind, Kinds: []string{kind}, Data: func(context.Context) []byte { return []byte("a") },
		Rule: queue.Always(queue.Exclusive), HandsOver: func(znode.Name) bool { return true },
	}
	first, second := q.Position(pinned, &queue.Seen{}), q.Position(pinned, &queue.Seen{})
	require.NoError(t, first.Join(t.Context()))
	require.NoError(t, second.Join(t.Context()))
	w.After(time.Second)
	data, _ := znode.MarkStepBack([]byte("a"))
	_, err = writer.Set(t.Context(), first.Path(), data, framework.AnyVersion)
	require.NoError(t, err)
	require.NoError(t, lease.RequestRevocation(t.Context(), writer, first.Path()))
	await := func(p *queue.Position) error {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errInterrupted)
		defer cancel()
		require.NoError(t, p.AwaitFront(ctx))
		return p.AwaitAdmitted(ctx, nil, false)
	}
	require.ErrorIs(t, await(second), errInterrupted)
	if kind == znode.Latch {
		require.ErrorIs(t, await(first), queue.ErrSteppedBack)
	} else {
		require.ErrorIs(t, await(first), errInterrupted)
		w.Remove(writer, held.Path)
		require.NoError(t, await(first))
	}
	require.True(t, first.RevocationRequested())
	first.Leave(t.Context())
	second.Leave(t.Context())
}
