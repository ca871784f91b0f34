package rwlock_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Writers behind the first one come and give up, faster than the client lists: their
// deletions do not keep the first one waiting.
func TestWritersThatGiveUpDelayNoWriterAhead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		b := w.Client("b")
		held := w.Acquire(newLock(t, w.Client("a")).Write())
		first := w.Start(newLock(t, b).Write(), lease.Forever)
		w.Server.On(zktest.OpGetChildren2, path).Client("b").After().Always().Delay(100 * time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		var others sync.WaitGroup
		for i := range 100 {
			others.Go(func() {
				for ctx.Err() == nil {
					if l, err := newLock(t, b).Write().Acquire(ctx, time.Duration(50+i)*time.Millisecond); err == nil {
						_ = l.Release()
					}
				}
			})
		}
		w.After(2 * time.Second)
		require.True(t, first.Waiting())
		require.NoError(t, held.Release())
		w.After(500 * time.Millisecond)
		granted := !first.Waiting()
		cancel()
		others.Wait()
		require.True(t, granted)
		require.NoError(t, first.Granted().Release())
	})
}
