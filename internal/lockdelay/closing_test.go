package lockdelay_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Work under many leases ends while the client is being closed. None of these ends is
// unclean.
func TestReleasesWhileTheClientIsClosed(t *testing.T) {
	for name, release := range map[string]func(*lease.Lease) error{"Release": (*lease.Lease).Release, "ReleaseAsync": (*lease.Lease).ReleaseAsync} {
		for _, n := range []int{1, 10, 300} {
			for _, outstanding := range []int{0, 2} {
				t.Run(fmt.Sprintf("%s of %d, %d outstanding", name, n, outstanding), func(t *testing.T) {
					inWorld(t, func(t *testing.T, w *conformance.World) {
						a := w.Client("a", func(cfg *framework.Config) { cfg.CloseGrace, cfg.MaxOutstanding = time.Minute, outstanding })
						var queues []string
						var work sync.WaitGroup
						for i := range n {
							at := fmt.Sprintf("/locks/%d", i)
							m, err := mutex.New(a, at, mutex.WithLockDelay(delay))
							require.NoError(t, err)
							held := w.Acquire(m)
							queues = append(queues, at)
							work.Go(func() {
								<-held.Done()
								assert.ErrorIs(t, release(held), framework.ErrClosed)
							})
						}
						require.NoError(t, a.Close())
						work.Wait()
						w.Settle()
						left := 0
						for _, at := range queues {
							left += len(records(w, at))
						}
						require.Zero(t, left, "ends that look unclean")
					})
				})
			}
		}
	}
}

// A connection breaks at the transaction of a release. When Release has returned, the
// client is closed: the next one need not wait.
func TestAReleaseThatIsConfirmedIsClean(t *testing.T) {
	for name, cut := range map[string]func(*zktest.Rule) *zktest.Rule{
		"before": (*zktest.Rule).Before,
		"after":  (*zktest.Rule).After,
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *conformance.World) {
				a := w.Client("a")
				held := w.Acquire(delayed(t, a))
				cut(w.Server.On(zktest.OpMulti, held.Path()).Client("a")).Cut()
				require.NoError(t, held.Release())
				require.NoError(t, a.Close())
				w.Settle()
				require.Empty(t, records(w, path), "an end that looks unclean")
			})
		})
	}
}

// When Release has returned nil the slot is free, also for one that does not wait.
func TestTheSlotIsFreeWhenReleaseHasReturned(t *testing.T) {
	for _, n := range []int{1, 10, 300} {
		for _, outstanding := range []int{0, 2} {
			t.Run(fmt.Sprint(n, " with ", outstanding, " outstanding"), func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *conformance.World) {
					a := w.Client("a", func(cfg *framework.Config) { cfg.MaxOutstanding = outstanding })
					w.Server.On(zktest.OpDelete, "/").Client("a").Before().Always().Optional().Delay(time.Millisecond)
					w.Server.On(zktest.OpMulti, "/").Client("a").Before().Always().Optional().Delay(time.Millisecond)
					held, at := make([]*lease.Lease, n), make([]string, n)
					for i := range n {
						at[i] = fmt.Sprintf("/locks/%d", i)
						m, err := mutex.New(a, at[i], mutex.WithLockDelay(delay))
						require.NoError(t, err)
						held[i] = w.Acquire(m)
					}
					var releases sync.WaitGroup
					late := make([]int, n)
					for i, l := range held {
						releases.Go(func() {
							assert.NoError(t, l.Release())
							late[i] = len(w.Server.Children(at[i] + "/lock-delay"))
						})
					}
					releases.Wait()
					sum := 0
					for _, n := range late {
						sum += n
					}
					require.Zero(t, sum, "records of slots whose release has returned")
				})
			})
		}
	}
}

// A lease is released while there is no connection, and the session ends before there
// is one. The work has ended: the next one need not wait.
func TestAReleaseWithoutAConnectionIsClean(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(delayed(t, a))
		w.Server.Partition("a", true)
		w.After(1500 * time.Millisecond)
		require.NoError(t, held.Release())
		w.After(2 * conformance.SessionTimeout)
		w.Server.Partition("a", false)
		w.After(5 * time.Second)
		require.Empty(t, records(w, path), "an end that looks unclean, of a lease that was released in time")
	})
}

// The context of an Acquire ends between its record and its grant, or its session: no
// caller has had a lease.
func TestAnAcquireThatFailsLeavesNoRecord(t *testing.T) {
	for name, end := range map[string]func(w *conformance.World, a *framework.Client, at *conformance.Attempt){
		"context": func(_ *conformance.World, _ *framework.Client, at *conformance.Attempt) { at.Cancel(nil) },
		"expired": func(w *conformance.World, a *framework.Client, at *conformance.Attempt) {
			w.Expire(a)
			at.Cancel(nil)
		},
		"cut": func(w *conformance.World, _ *framework.Client, at *conformance.Attempt) {
			w.Server.DropConnections("a")
			at.Cancel(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *conformance.World) {
				a := w.Client("a")
				require.NoError(t, w.Acquire(delayed(t, a)).Release())
				w.Server.On(zktest.OpMulti, path).Client("a").After().Delay(500 * time.Millisecond)
				at := w.Start(delayed(t, a), time.Minute)
				require.True(t, at.Waiting())
				w.After(100 * time.Millisecond)
				end(w, a, at)
				_ = at.Failed()
				w.After(20 * time.Second)
				require.Empty(t, records(w, path), "an unclean end of a lease that nobody has got")
			})
		})
	}
}
