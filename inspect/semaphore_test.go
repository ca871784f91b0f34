package inspect_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestSurveyOfASemaphore(t *testing.T) {
	for name, layout := range map[string][]semaphore.Option{"Curator's layout": nil, "single queue": {semaphore.WithSingleQueue()}} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				c := w.Client("a")
				sem, err := semaphore.New(c, path, 2, layout...)
				require.NoError(t, err)
				held := []*lease.Lease{w.Acquire(sem)}
				require.Equal(t, &inspect.Permits{SizeKnown: true, Size: 2, Free: 1}, survey(t, c).Permits)
				held = append(held, w.Acquire(sem))
				waiting := w.Start(sem, lease.Forever)
				s := survey(t, c)
				require.Equal(t, []string{"semaphore 1 semaphore held", "semaphore 2 semaphore held", "semaphore 3 semaphore waiting"}, states(s))
				require.Equal(t, &inspect.Permits{SizeKnown: true, Size: 2}, s.Permits)
				require.Empty(t, s.Others)
				for _, l := range held {
					require.NoError(t, l.Release())
				}
				require.NoError(t, waiting.Granted().Release())
				if s = survey(t, c); layout == nil { // a single queue leaves nothing to know it by
					require.Equal(t, &inspect.Permits{SizeKnown: true, Size: 2, Free: 2}, s.Permits)
				}
				require.Empty(t, s.Queues)
				require.Empty(t, s.Others)
			})
		})
	}
}

// Curator's semaphore stores its size only if it is given a SharedCount. The holders
// are known without the size, but not in a single queue.
func TestSurveyOfASemaphoreOfUnknownSize(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		create(t, c, "leases/_c_x-lease-0000000000", "locks/_c_x-lock-0000000001")
		s := survey(t, c)
		require.Equal(t, []string{"semaphore 1 semaphore held", "semaphore 2 semaphore waiting"}, states(s))
		require.Equal(t, &inspect.Permits{}, s.Permits)
		require.NoError(t, c.DeleteTree(t.Context(), path))

		create(t, c, "permits-3-0000000000", "permits-1-0000000001")
		for _, foreign := range []string{"", "something else"} {
			_, err := c.Set(t.Context(), path, []byte(foreign), framework.AnyVersion)
			require.NoError(t, err)
			s = survey(t, c)
			require.Equal(t, []string{"semaphore 1 semaphore unknown", "semaphore 2 semaphore unknown"}, states(s))
			require.False(t, s.Queues[0].Contenders[0].Holding)
			require.Equal(t, &inspect.Permits{}, s.Permits)
		}
	})
}

// The size is stored, changed, or removed between any two requests of a survey.
func TestSurveyWhileTheSizeChanges(t *testing.T) {
	none, three, five := []byte{}, []byte{0, 0, 0, 3}, []byte{0, 0, 0, 5}
	for name, sizes := range map[string][2][]byte{"stored": {none, three}, "grows": {three, five}, "shrinks": {five, three}, "removed": {three, none}} {
		t.Run(name, func(t *testing.T) {
			for _, request := range []zktest.Op{zktest.OpSync, zktest.OpGetChildren2, zktest.OpGetData} {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					c, other := w.Client("a"), w.Client("other")
					create(t, other, "permits-1-0000000000")
					_, err := other.Set(t.Context(), path, sizes[0], framework.AnyVersion)
					require.NoError(t, err)
					w.Server.On(request, path).Client("a").Nth(1).Before().Delay(time.Second)
					changed := make(chan error, 1)
					time.AfterFunc(time.Second/2, func() {
						_, err := other.Set(t.Context(), path, sizes[1], framework.AnyVersion)
						changed <- err
					})
					s := survey(t, c)
					require.NoError(t, <-changed)
					require.Len(t, s.Queues, 1)
					if p := s.Permits; p.SizeKnown {
						require.Contains(t, []inspect.Permits{{true, 3, 2}, {true, 5, 4}}, *p)
						require.Equal(t, []string{"semaphore 1 semaphore held"}, states(s))
					} else {
						require.Equal(t, []string{"semaphore 1 semaphore unknown"}, states(s))
					}
				})
			}
		})
	}
}
