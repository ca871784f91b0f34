package once_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	done    = path + "/done"
	effects = "/effects"
)

// counted does a run that creates a node below effects with its record.
func counted(ctx context.Context, r *once.Run) error {
	return r.Do(ctx, func(ctx context.Context, held *lease.Lease) error {
		return r.Record(ctx, held, framework.CreateOp(effects+"/", nil, framework.PersistentSequential))
	})
}

// withEffects returns a job whose runs can be counted.
func withEffects(t *testing.T, c *framework.Client) *once.Job {
	_, err := c.Create(t.Context(), effects, nil, framework.Persistent)
	require.NoError(t, err)
	return newJob(t, c)
}

// The connection breaks before or after the server makes the record.
func TestRecordIsNotAnswered(t *testing.T) {
	for name, after := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				j := withEffects(t, w.Client("a"))
				rule := w.Server.On(zktest.OpMulti, path)
				if after {
					rule = rule.After()
				}
				rule.Cut()
				require.NoError(t, counted(t.Context(), j.Key("a")))
				require.Len(t, w.Server.Children(effects), 1)
				require.Equal(t, []string{"a.key"}, w.Server.Children(done))
			})
		})
	}
}

// The connection breaks before or after the server makes the parent of the records.
func TestParentOfRecordsIsNotAnswered(t *testing.T) {
	for name, after := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				j := newJob(t, w.Client("a"))
				rule := w.Server.On(zktest.OpCreate, done)
				if after {
					rule = rule.After()
				}
				rule.Cut()
				r := j.Key("a")
				err := r.Do(t.Context(), func(ctx context.Context, held *lease.Lease) error {
					return r.Record(ctx, held, framework.CheckOp("/none", framework.AnyVersion))
				})
				require.ErrorIs(t, err, framework.ErrNoNode)
				require.NotErrorIs(t, err, framework.ErrUnknownOutcome)
				require.NoError(t, r.Do(t.Context(), nothing))
			})
		})
	}
}

// Two clients make the parent of the records at the same time.
func TestParentOfRecordsIsMadeTwice(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a")), newJob(t, w.Client("b"))
		w.Server.On(zktest.OpCreate, done).Client("a").Delay(time.Second)
		first := make(chan error, 1)
		go func() { first <- a.Do(t.Context(), "a", nothing) }()
		w.Settle()
		require.NoError(t, b.Do(t.Context(), "b", nothing))
		require.NoError(t, <-first)
		require.Len(t, w.Server.Children(done), 2)
	})
}

// After an attempt of unknown outcome the lease is lost: nobody knows whether the run
// is recorded.
func TestLeaseIsLostAfterAnUnknownOutcome(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := withEffects(t, w.Client("a"))
		operator := w.Client("operator")
		cut := w.Server.On(zktest.OpMulti, path).Before()
		cut.Cut()
		evicted := make(chan struct{})
		go func() {
			defer close(evicted)
			<-cut.Fired()
			for _, child := range w.Server.Children(path + "/a.key") {
				w.Remove(operator, path+"/a.key/"+child)
			}
		}()
		err := counted(t.Context(), j.Key("a"))
		<-evicted
		require.ErrorIs(t, err, lease.ErrLost)
		require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		require.Empty(t, w.Server.Children(done))
	})
}
