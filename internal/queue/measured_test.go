package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// What is measured for observers: only the end of a wait for other contenders counts,
// and those behind the front of a crowd know how many are ahead when they join.
func TestWhatIsMeasuredForObservers(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		queue.SetFront(a, 2)
		var positions []*queue.Position
		var measured []*queue.Measured
		for range 3 {
			m := &queue.Measured{Ahead: -1}
			p := locks.Queue(a, path, znode.Mutex, queue.Self(""), 0).Position(a.In(a.Session()), &queue.Seen{Ahead: -1, Measured: m})
			positions, measured = append(positions, p), append(measured, m)
		}
		slow := w.Server.On(zktest.OpGetChildren2, path).Client("a").After().Delay(time.Second)
		await := func(p *queue.Position, limit time.Duration) error {
			ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errInterrupted)
			defer cancel()
			if err := p.AwaitFront(ctx); err != nil {
				return err
			}
			return p.AwaitAdmitted(ctx, nil, false)
		}
		first, others := positions[0], positions[1:]
		require.NoError(t, first.Join(t.Context()))
		require.NoError(t, await(first, time.Minute))
		<-slow.Fired()
		require.Equal(t, queue.Measured{}, *measured[0], "it waited only for the listing")
		admitted := make(chan error, 2)
		for _, p := range others {
			require.NoError(t, p.Join(t.Context()))
			go func() { admitted <- await(p, time.Minute) }()
			w.Settle()
		}
		left := time.Now()
		w.After(time.Second)
		first.Leave(t.Context())
		require.NoError(t, <-admitted)
		require.Equal(t, 1, measured[1].Ahead)
		require.Greater(t, measured[1].Notified, left)
		others[0].Leave(t.Context())
		require.NoError(t, <-admitted)
		require.Equal(t, 2, measured[2].Ahead, "when it joined, not when it came to the front")
		others[1].Leave(t.Context())
	})
}

// A reader that nobody keeps out has not waited for the reader ahead of it, although it
// still needs an answer.
func TestAnswersAreNoHandOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		var positions []*queue.Position
		var last queue.Measured
		for range 3 {
			q := locks.Queue(a, path, znode.Reader, queue.Self(""), 0)
			rule := q.Rule
			q.Rule = func(ctx context.Context, c *framework.Client) (queue.Policy, error) {
				if len(positions) == 3 && last.Ahead < 0 {
					positions[1].Leave(ctx) // behind the listing
				}
				return rule(ctx, c)
			}
			last = queue.Measured{Ahead: -1}
			positions = append(positions, q.Position(a.In(a.Session()), &queue.Seen{Ahead: -1, Measured: &last}))
			p := positions[len(positions)-1]
			require.NoError(t, p.Join(t.Context()))
			require.NoError(t, p.AwaitAdmitted(t.Context(), nil, false))
		}
		require.Equal(t, queue.Measured{Ahead: 1}, last)
		positions[0].Leave(t.Context())
		positions[2].Leave(t.Context())
	})
}
