package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A position waits at the front, and its wait is interrupted. Meanwhile one comes ahead
// of it whose create is answered later, in another session. When it waits again it
// still belongs to the front: what it has sent is answered.
func TestPositionStaysAtTheFront(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(mutexOf(t, w.Client("b")))
		a := w.Client("a", func(cfg *framework.Config) { cfg.MaxEphemeralBytes = 400 })
		queue.SetFront(a, 1)
		further, err := kit.Of(a).AwaitRoom(t.Context(), path, []string{""}, 1, []*framework.Session{a.Session()})
		require.NoError(t, err)
		in := func(s *framework.Session) *queue.Position {
			c := kit.Of(a).Within(s)
			return locks.Queue(c, path, znode.Mutex, queue.Self(""), 0).Position(c, &queue.Seen{})
		}
		slow := w.Server.On(zktest.OpCreate, path).Client("a").After().Delay(time.Second)
		ahead := in(a.Session())
		joined := make(chan struct{})
		go func() {
			defer close(joined)
			assert.NoError(t, ahead.Join(t.Context()))
		}()
		<-slow.Fired()
		p := in(further)
		require.NoError(t, p.Join(t.Context()))
		await := func(d time.Duration) error {
			ctx, cancel := context.WithTimeoutCause(t.Context(), d, errInterrupted)
			defer cancel()
			if err := p.AwaitFront(ctx); err != nil {
				return err
			}
			return p.AwaitAdmitted(ctx, nil, false)
		}
		read := w.Server.On(zktest.OpGetData, p.Path()).After().Delay(3 * time.Second)
		require.ErrorIs(t, await(100*time.Millisecond), errInterrupted)
		<-read.Fired()
		<-joined
		require.Less(t, ahead.Token(), p.Token())
		require.ErrorIs(t, await(5*time.Second), errInterrupted)
		ahead.Leave(t.Context())
		require.NoError(t, held.Release())
		require.NoError(t, await(time.Second))
		p.Leave(t.Context())
	})
}

var errInterrupted = errors.New("interrupted")
