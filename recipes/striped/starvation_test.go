package striped_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A call of AcquireAny does not wait for ever behind a holder that hangs while the
// other share is granted to one call after another, all of which came later.
func TestCallBehindAHolderThatHangs(t *testing.T) {
	for name, others := range map[string][]string{"of its own client": {"a"}, "of other clients": {"c", "d"}} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				l := newLocks(t, a, 2)
				for _, name := range others {
					w.Named(name)
				}
				hanging, at, err := newLocks(t, b, 2).AcquireAny(t.Context(), time.Second)
				require.NoError(t, err)
				free := keyAt(t, l, 1-at, l, 1-at)
				// The call comes while the other share is held, too, and joins the one
				// that hangs.
				held := w.Acquire(newLocks(t, w.Client("e"), 2).For(free))
				local := w.Start(anyStripe(l), lease.Forever)
				second := w.Start(anyStripe(l), lease.Forever)
				require.NoError(t, held.Release())
				if second.Waiting() {
					local, second = second, local
				}
				require.NoError(t, second.Granted().Release())

				ctx, cancel := context.WithCancel(t.Context())
				granted, loops := atomic.Int32{}, make(chan struct{}, 2)
				for _, name := range others {
					contender := l
					if name != "a" {
						contender = newLocks(t, w.Known(name), 2)
					}
					go func() {
						defer func() { loops <- struct{}{} }()
						for ctx.Err() == nil {
							var held *lease.Lease
							var err error
							if name == "a" {
								held, _, err = contender.AcquireAny(ctx, lease.Forever)
							} else {
								held, err = contender.For(free).Acquire(ctx, lease.Forever)
							}
							if err == nil {
								granted.Add(1)
								<-time.After(100 * time.Millisecond)
								_ = held.Release()
							}
						}
					}()
				}
				w.After(5 * time.Minute)
				waiting := local.Waiting()
				cancel()
				for range others {
					<-loops
				}
				require.NoError(t, hanging.Release())
				require.NoError(t, local.Granted().Release())
				require.False(t, waiting, "waits since 5 minutes, while %d leases were granted to calls that came later", granted.Load())
			})
		})
	}
}
