package hold_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// At the very instant at which a hold ends, all its methods report it, by the clock:
// also before the goroutine that watches the hold has run. So many calls are made that
// some run before it.
func TestEndIsKnownAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		reason error
		max    time.Duration
		end    func(p world) (ended <-chan struct{}, strike func())
		set    []setting
	}{
		"maximum hold time": {reason: lease.ErrMaxHold, max: 5 * time.Second, end: func(world) (<-chan struct{}, func()) {
			return nil, func() { time.Sleep(5 * time.Second) }
		}},
		"suspension": {reason: lease.ErrSuspended, set: []setting{stopping}, end: func(p world) (<-chan struct{}, func()) {
			return p.Session().Suspended(), p.suspend
		}},
		"session": {reason: framework.ErrSessionLost, end: func(p world) (<-chan struct{}, func()) {
			return p.Session().Done(), func() { p.server.ExpireSession(p.Session().ID()) }
		}},
	} {
		for question, ask := range map[string]func(h *lease.Lease, p world) error{
			"err":     func(h *lease.Lease, _ world) error { return h.Err() },
			"confirm": func(h *lease.Lease, _ world) error { return h.Confirm(context.Background()) },
			"release": func(h *lease.Lease, _ world) error { return h.Release() },
			"entry": func(h *lease.Lease, p world) error {
				_, _, err := hold.Enter(context.WithoutCancel(h.Context()), p.key())
				return err
			},
			"ownership": func(h *lease.Lease, p world) error {
				_, _, err := hold.Owner(h.Context(), p.key())
				return err
			},
		} {
			t.Run(name+", "+question, func(t *testing.T) {
				granting(t, func(t *testing.T, p world) {
					var holds []*lease.Lease
					for range 30 {
						holds = append(holds, p.grant(t, t.Context(), maxHold(c.max)))
					}
					ended, strike := c.end(p)
					end := time.Now().Add(c.max)
					errs := make(chan error, len(holds))
					for _, h := range holds {
						go func() {
							if ended != nil {
								<-ended
							} else {
								time.Sleep(time.Until(end))
							}
							errs <- ask(h, p)
						}()
					}
					synctest.Wait()
					strike()
					for range holds {
						err := <-errs
						require.ErrorIs(t, err, lease.ErrLost)
						require.ErrorIs(t, err, c.reason)
					}
					for _, h := range holds {
						_ = h.Release()
					}
				}, c.set...)
			})
		}
	}
}
