package oncecron_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"

	oncecron "github.com/zkrecipes/zkrecipes/contrib/cron"
)

// Of three processes one begins each tick. One of them is always late, as if its clock
// was behind, and finds the ticks recorded.
func TestEachTickIsRunOnce(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		log := new(runLog)
		for name, late := range map[string]time.Duration{"a": 0, "b": 0, "c": 20 * time.Second} {
			ctx, c := newCron(t, delayed(late))
			_, err := oncecron.AddFunc(ctx, c, "* * * * *", newJob(t, w.Client(name)), log.took(10*time.Second), log.onError())
			require.NoError(t, err)
			c.Start()
		}
		until(t, w, "00:04:30")
		require.Equal(t, []string{"00:01:00", "00:02:00", "00:03:00", "00:04:00"}, log.begun())
		require.Empty(t, log.errors())
	})
}

// A run that begins when later ticks have fired still has a tick of its own.
func TestLateRunsFindTheirTicks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		log := new(runLog)
		ctx, c := newCron(t, delayed(200*time.Second))
		_, err := oncecron.AddFunc(ctx, c, "* * * * *", newJob(t, w.Client("a")), log.took(0), log.onError())
		require.NoError(t, err)
		c.Start()
		until(t, w, "00:04:30") // three more have fired
		require.Len(t, log.begun(), 1)
		until(t, w, "00:06:05")
		<-c.Stop().Done()
		require.Equal(t, []string{"00:01:00", "00:02:00", "00:03:00", "00:04:00", "00:05:00", "00:06:00"}, log.begun())
		require.Empty(t, log.errors())
	})
}

// The wrappers of cron leave out runs, or delay them. While one tick runs somewhere,
// the next ones are left out everywhere.
func TestWrappers(t *testing.T) {
	for name, wanted := range map[string]struct {
		wrapper cron.JobWrapper
		ticks   []string
	}{
		"skip":  {cron.SkipIfStillRunning(cron.DiscardLogger), []string{"00:01:00", "00:04:00", "00:07:00"}},
		"delay": {oneAfterTheOther, []string{"00:01:00", "00:02:00", "00:03:00", "00:04:00", "00:05:00", "00:06:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				log := new(runLog)
				var crons []*cron.Cron
				for _, name := range []string{"a", "b"} {
					ctx, c := newCron(t, cron.WithChain(wanted.wrapper))
					_, err := oncecron.AddFunc(ctx, c, "* * * * *", newJob(t, w.Client(name)), log.took(150*time.Second), log.onError())
					require.NoError(t, err)
					c.Start()
					crons = append(crons, c)
				}
				until(t, w, "00:06:05")
				if name == "skip" {
					until(t, w, "00:07:05")
				}
				var ends []context.Context
				for _, c := range crons {
					ends = append(ends, c.Stop())
				}
				for _, end := range ends {
					<-end.Done()
				}
				require.Equal(t, wanted.ticks, log.begun())
				require.Empty(t, log.errors())
			})
		})
	}
}

// Ticks at which cron was stopped are not made up for.
func TestStopAndStart(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		log := new(runLog)
		ctx, c := newCron(t)
		_, err := oncecron.AddFunc(ctx, c, "* * * * *", newJob(t, w.Client("a")), log.took(0), log.onError())
		require.NoError(t, err)
		until(t, w, "00:01:30") // it has not been started yet
		c.Start()
		until(t, w, "00:02:30")
		<-c.Stop().Done()
		until(t, w, "00:04:30")
		c.Start()
		until(t, w, "00:06:30")
		require.Equal(t, []string{"00:02:00", "00:05:00", "00:06:00"}, log.begun())
		require.Empty(t, log.errors())
	})
}

// Entries do not know of each other. A run that has not begun when its entry is removed
// does not begin; one that has goes on.
func TestRemovedEntry(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		client := w.Client("a")
		ctx, c := newCron(t, delayed(10*time.Second))
		logs, ids := make([]runLog, 2), make([]cron.EntryID, 2)
		for i := range logs {
			job, err := once.New(client, fmt.Sprint(path, i))
			require.NoError(t, err)
			ids[i], err = oncecron.AddFunc(ctx, c, fmt.Sprintf("*/%d * * * *", i+1), job, logs[i].took(10*time.Second), logs[i].onError())
			require.NoError(t, err)
		}
		c.Start()
		require.NotEqual(t, ids[0], ids[1])
		until(t, w, "00:02:05")
		c.Remove(ids[0]) // before the run of this minute has begun
		until(t, w, "00:04:15")
		c.Remove(ids[1]) // after it has
		until(t, w, "00:09:00")
		require.Equal(t, []string{"00:01:00"}, logs[0].begun())
		require.Equal(t, []string{"00:02:00", "00:04:00"}, logs[1].begun())
		require.Empty(t, append(logs[0].errors(), logs[1].errors()...))
		require.Empty(t, c.Entries())
	})
}

// The ticks of "@every" do not depend on when a process was started, and the parser is
// that of the Cron.
func TestEvery(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		log := new(runLog)
		for _, name := range []string{"a", "b"} {
			ctx, c := newCron(t, cron.WithSeconds())
			c.Start()
			w.After(17 * time.Second)
			_, err := oncecron.AddFunc(ctx, c, "@every 20m", newJob(t, w.Client(name)), log.took(0), log.onError())
			require.NoError(t, err)
			require.Len(t, c.Entries(), 1)
		}
		until(t, w, "00:50:00")
		require.Equal(t, []string{"00:20:00", "00:40:00"}, log.begun())
		require.Empty(t, log.errors())
	})
}

// A process that loses its lease, and is the only one, begins again.
func TestLostLease(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		log, client := new(runLog), w.Client("a")
		ctx, c := newCron(t)
		job := newJob(t, client)
		_, err := oncecron.AddFunc(ctx, c, "0 * * * *", job, log.took(10*time.Second), log.onError())
		require.NoError(t, err)
		c.Start()
		until(t, w, "01:00:05")
		w.Expire(client)
		until(t, w, "01:01:00")
		require.Equal(t, []string{"01:00:00", "01:00:00"}, log.begun())
		require.Len(t, log.errors(), 1)
		require.ErrorIs(t, log.errors()[0], lease.ErrLost)
		record, err := job.Tick(time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)).Recorded(ctx)
		require.NoError(t, err)
		require.NotNil(t, record)
	})
}

// A run that failed, or takes too long, is begun again by another process, once in
// each.
func TestFailedRun(t *testing.T) {
	for name, wanted := range map[string]error{"fails": errors.New("no paper"), "takes too long": lease.ErrMaxHold} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				log := new(runLog)
				for _, name := range []string{"a", "b", "c"} {
					ctx, c := newCron(t)
					job := newJob(t, w.Client(name), once.WithMaxHold(time.Minute))
					_, err := oncecron.AddFunc(ctx, c, "0 * * * *", job, func(ctx context.Context, held *lease.Lease, tick time.Time) error {
						if err := log.took(2*time.Minute)(ctx, held, tick); errors.Is(wanted, lease.ErrMaxHold) {
							return err
						}
						return wanted
					}, log.onError())
					require.NoError(t, err)
					c.Start()
				}
				until(t, w, "01:30:00")
				require.Equal(t, []string{"01:00:00", "01:00:00", "01:00:00"}, log.begun())
				require.Len(t, log.errors(), 3)
				for _, err := range log.errors() {
					require.ErrorIs(t, err, wanted)
				}
			})
		})
	}
}

// The end of the context ends runs, and those that wait for another process. That is no
// error. Without it cron waits for them.
func TestEnd(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		log := new(runLog)
		ctx, cancel := context.WithCancel(t.Context())
		var ends []context.Context
		for _, name := range []string{"a", "b"} {
			_, c := newCron(t)
			_, err := oncecron.AddFunc(ctx, c, "* * * * *", newJob(t, w.Client(name)), log.took(time.Hour), log.onError())
			require.NoError(t, err)
			c.Start()
			until(t, w, map[string]string{"a": "00:00:30", "b": "00:01:30"}[name])
			ends = append(ends, c.Stop())
		}
		require.Equal(t, []string{"00:01:00"}, log.begun())
		w.After(time.Minute)
		require.NoError(t, ends[1].Err())
		cancel()
		for _, end := range ends {
			<-end.Done()
		}
		require.Empty(t, log.errors())
	})
}

// A client that was closed is an error of each tick, and no reason to try again.
func TestClosedClient(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		log, client := new(runLog), w.Client("a")
		ctx, c := newCron(t)
		_, err := oncecron.AddFunc(ctx, c, "* * * * *", newJob(t, client), log.took(10*time.Second), log.onError())
		require.NoError(t, err)
		c.Start()
		until(t, w, "00:01:05")
		require.NoError(t, client.Close())
		until(t, w, "00:03:30")
		require.Equal(t, []string{"00:01:00"}, log.begun())
		require.Len(t, log.errors(), 3)
		for _, err := range log.errors() {
			require.ErrorIs(t, err, framework.ErrClosed)
		}
	})
}

// What a function does in ZooKeeper is part of the record.
func TestRecordByTheFunction(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		log, client := new(runLog), w.Client("a")
		_, err := client.Create(t.Context(), "/sum", nil, framework.Persistent)
		require.NoError(t, err)
		ctx, c := newCron(t)
		job := newJob(t, client)
		id, err := oncecron.AddFunc(ctx, c, "0 * * * *", job, func(ctx context.Context, held *lease.Lease, tick time.Time) error {
			return job.Tick(tick).Record(ctx, held, framework.SetOp("/sum", []byte("1"), 0))
		}, log.onError())
		require.NoError(t, err)
		c.Start()
		until(t, w, "01:30:00")
		c.Entry(id).WrappedJob.Run() // by hand: the last tick, which is recorded
		sum, _, err := client.Get(t.Context(), "/sum")
		require.NoError(t, err)
		require.Equal(t, "1", string(sum))
		require.Empty(t, log.errors())
	})
}

// A job by hand has no tick before the first one has fired.
func TestByHandBeforeTheFirstTick(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		log := new(runLog)
		ctx, c := newCron(t)
		id, err := oncecron.AddFunc(ctx, c, "0 * * * *", newJob(t, w.Client("a")), log.took(0), log.onError())
		require.NoError(t, err)
		c.Start()
		c.Entry(id).WrappedJob.Run()
		require.Empty(t, log.begun())
		require.Empty(t, log.errors())
	})
}

func TestArguments(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		ctx, c := newCron(t)
		job, fn := newJob(t, w.Client("a")), new(runLog).took(0)
		_, err := oncecron.AddFunc(ctx, c, "nonsense", job, fn)
		require.ErrorContains(t, err, "oncecron: ")
		for _, add := range []func() (cron.EntryID, error){
			func() (cron.EntryID, error) { return oncecron.AddFunc(ctx, nil, "@daily", job, fn) },
			func() (cron.EntryID, error) { return oncecron.AddFunc(ctx, c, "@daily", nil, fn) },
			func() (cron.EntryID, error) { return oncecron.AddFunc(ctx, c, "@daily", job, nil) },
			func() (cron.EntryID, error) { return oncecron.Schedule(ctx, c, nil, job, fn) },
			func() (cron.EntryID, error) { return oncecron.Schedule(ctx, nil, cron.Every(time.Hour), job, fn) },
		} {
			_, err := add()
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
		}
		require.Empty(t, c.Entries())
	})
}
