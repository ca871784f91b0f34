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
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

const path = "/queue"

// joined returns a position in a queue, in the main session of a client.
func joined(t *testing.T, q *queue.Queue, c *framework.Client) *queue.Position {
	t.Helper()
	p := q.Position(c.In(c.Session()), &queue.Seen{})
	require.NoError(t, p.Join(t.Context()))
	return p
}

// mutexOf is the mutex of the path.
func mutexOf(t *testing.T, c *framework.Client) *mutex.Mutex {
	t.Helper()
	m, err := mutex.New(c, path)
	require.NoError(t, err)
	return m
}

// zeros makes all random parts of names the same.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// A create that was taken for dropped is carried out after all: of two nodes with one
// id, one is not used. No contender waits for it, and it is deleted, wherever in the
// queue it is. A node with another id, or none, belongs to another contender.
func TestSecondNodeUnderTheOwnIDIsRemoved(t *testing.T) {
	for name, ahead := range map[string]bool{"ahead": true, "behind": false} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, operator := w.Client("a", func(cfg *framework.Config) { kit.SetRandom(cfg, zeros{}) }), w.Client("operator")
				require.NoError(t, operator.CreateParents(t.Context(), path+"/x"))
				create := func(id string) string {
					made, err := operator.Create(t.Context(), path+"/"+id+znode.Mutex, nil, framework.EphemeralSequential)
					require.NoError(t, err)
					return made.Path
				}
				const own = "_c_00000000-0000-8000-8000-000000000000-"
				others := []string{create("_c_00000000-0000-4000-8000-000000000001-"), create("")}
				second := ""
				if ahead {
					second = create(own)
				}
				granted := make(chan error, 1)
				m := mutexOf(t, a)
				go func() {
					granted <- lease.Do(t.Context(), m, lease.Forever, func(context.Context, *lease.Lease) error { return nil })
				}()
				w.After(time.Second)
				if !ahead {
					second = create(own)
				}
				w.Remove(operator, others[1])
				w.After(2 * conformance.SessionTimeout) // until it lists again
				require.Empty(t, granted)
				require.NotContains(t, w.Ephemerals("/"), second)
				require.Contains(t, w.Ephemerals("/"), others[0])
				require.Len(t, w.Ephemerals("/"), 2, "that and the own one")
				w.Remove(operator, others[0])
				w.After(time.Second)
				require.Len(t, granted, 1)
				require.NoError(t, <-granted)
			})
		})
	}
}
