package semaphore_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A write that was lost with its session has not been carried out because the server that
// the next session is with, which has fallen behind, still shows the number of long ago.
func TestResizeIsNotFooledByTheNumberOfLongAgo(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var away atomic.Bool
		a := w.Client("a", func(cfg *framework.Config) {
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				name := "a"
				if away.Load() {
					name = "a, elsewhere"
				}
				return w.Server.Dial(name)(ctx, network, addr)
			}
		})
		s, other := newSemaphore(t, a, 2), newSemaphore(t, w.Client("b"), 2)
		warm(w, s)
		w.Server.Lag("a, elsewhere", true)
		require.NoError(t, other.Resize(t.Context(), 7))
		lost := w.Server.On(zktest.OpSetData, path).Client("a").Before().Delay(time.Hour)
		resized := make(chan error, 1)
		go func() { resized <- s.Resize(t.Context(), 2) }()
		<-lost.Fired()
		away.Store(true)
		w.Expire(a)
		require.NoError(t, <-resized)
		require.Equal(t, bytes(2), stored(w))
		w.Server.Lag("a, elsewhere", false)
	})
}
