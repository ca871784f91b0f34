package once_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// swept is the moment up to which records were removed.
func swept(t *testing.T, w *conformance.World) time.Time {
	info, _ := w.Server.Node(done)
	at, ok := znode.ParseSwept(info.Data)
	require.True(t, ok)
	return at
}

// do does a run, and waits for the sweep that may follow.
func do(t *testing.T, w *conformance.World, r *once.Run) {
	require.NoError(t, r.Do(t.Context(), nothing))
	w.Settle()
}

// Records are removed when they are as old as the retention, and that is looked for
// eight times in that time.
func TestOldRecordsGo(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		j := newJob(t, c, once.WithRetention(time.Minute))
		began := time.Now()
		do(t, w, j.Key("a"))
		require.Equal(t, began.Add(-time.Minute).UTC(), swept(t, w))
		do(t, w, j.Tick(began))
		early := j.Tick(began.Add(time.Hour))
		do(t, w, early)
		for _, foreign := range []string{"foreign", "%zz.key", "a b.key", "x.hash", "2000.tick"} {
			_, err := c.Create(t.Context(), done+"/"+foreign, nil, framework.Persistent)
			require.NoError(t, err)
		}
		w.After(7 * time.Second)
		sets := w.Server.Count(zktest.OpSetData)
		do(t, w, j.Key("b"))
		require.Equal(t, sets, w.Server.Count(zktest.OpSetData))
		require.Equal(t, began.Add(-time.Minute).UTC(), swept(t, w))
		w.After(time.Second)
		do(t, w, j.Tick(began.Add(8*time.Second)))
		require.Equal(t, began.Add(8*time.Second-time.Minute).UTC(), swept(t, w))
		require.Len(t, w.Server.Children(done), 10)
		w.After(58 * time.Second)
		do(t, w, j.Key("c"))
		require.Equal(t, began.Add(6*time.Second).UTC(), swept(t, w))
		left := w.Server.Children(done)
		require.Len(t, left, 9)
		require.NotContains(t, left, "a.key")
		require.ErrorIs(t, w.Start(j.Tick(began.Add(6*time.Second)), 0).Failed(), once.ErrForgotten)
		require.ErrorIs(t, w.Start(early, 0).Failed(), once.ErrRecorded)
		do(t, w, j.Tick(began.Add(6*time.Second+1)))
	})
}

// Records outlive the clients that have made them.
func TestRecordsOutliveClients(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		do(t, w, newJob(t, c).Key("a"))
		require.NoError(t, c.Close())
		w.After(2 * conformance.SessionTimeout)
		require.Equal(t, []string{"a.key"}, w.Server.Children(done))
	})
}

// One of several old records is deleted by an operator before the sweep comes to it.
func TestRecordIsGoneBeforeTheSweep(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, operator := newJob(t, w.Client("a"), once.WithRetention(time.Minute)), w.Client("operator")
		began := time.Now()
		for i := range 5 {
			do(t, w, j.Tick(began.Add(time.Duration(i))))
		}
		w.After(2 * time.Minute)
		deleted := w.Server.On(zktest.OpMulti, done)
		deleted.Delay(time.Millisecond)
		left := make(chan struct{})
		go func() {
			defer close(left)
			<-deleted.Fired()
			for i := range 4 {
				w.Remove(operator, done+"/"+znode.TickName(began.Add(time.Duration(i))))
			}
		}()
		do(t, w, j.Key("a"))
		<-left
		w.After(time.Second)
		require.Equal(t, []string{"a.key"}, w.Server.Children(done))
	})
}

// A sweep comes between what a run reads before its record, and the record.
func TestSweepComesBeforeTheRecord(t *testing.T) {
	for name, lasts := range map[string]time.Duration{"forgotten": 2 * time.Minute, "not forgotten": 10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := newJob(t, w.Client("a"), once.WithRetention(time.Minute)), newJob(t, w.Client("b"), once.WithRetention(time.Minute))
				do(t, w, b.Key("first"))
				tick := time.Now()
				var late *zktest.Rule
				recorded := make(chan error, 1)
				go func() {
					recorded <- a.Tick(tick).Do(t.Context(), func(context.Context, *lease.Lease) error {
						time.Sleep(lasts)
						late = w.Server.On(zktest.OpGetData, done).Client("a").After()
						late.Delay(time.Second)
						return nil
					})
				}()
				w.After(lasts)
				<-late.Fired()
				do(t, w, b.Key("second"))
				err := <-recorded
				found := slices.Contains(w.Server.Children(done), znode.TickName(tick))
				if lasts > time.Minute {
					require.ErrorIs(t, err, once.ErrForgotten)
					require.False(t, found)
					return
				}
				require.NoError(t, err)
				require.True(t, found)
			})
		})
	}
}
