package oncegocron_test

import (
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/once"

	oncegocron "github.com/zkrecipes/zkrecipes/contrib/gocron"
)

// With the fake clock of a user's test, gocron runs each tick, also in the hour that
// comes twice, and adds none in the hour that does not exist.
func TestFakeClock(t *testing.T) {
	york, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	november, march := time.Date(2026, 11, 1, 0, 0, 0, 0, york), time.Date(2026, 3, 7, 0, 0, 0, 0, york)
	for _, c := range []struct {
		name string
		when oncegocron.Definition
		from time.Time
		want []string
	}{
		{"interval", oncegocron.DurationJob(time.Hour), november, []string{"01 01:00 EDT", "01 01:00 EST", "01 02:00 EST"}},
		{"hourly", oncegocron.CronJob("30 * * * *"), november, []string{"01 00:30 EDT", "01 01:30 EDT", "01 01:30 EST", "01 02:30 EST"}},
		{"daily", oncegocron.CronJob("30 1 * * *"), november, []string{"01 01:30 EDT", "02 01:30 EST"}},
		{"spring", oncegocron.CronJob("30 2 * * *"), march, []string{"07 02:30 EST", "09 02:30 EDT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				job, err := once.New(w.Client("a"), path)
				require.NoError(t, err)
				clock := clockwork.NewFakeClockAt(c.from)
				scheduler, err := gocron.NewScheduler(gocron.WithClock(clock), gocron.WithLocation(york))
				require.NoError(t, err)
				defer func() { require.NoError(t, scheduler.Shutdown()) }()
				begun := ledger{layout: "02 15:04 MST"}
				scheduled, err := oncegocron.NewJob(scheduler, job, c.when.WithClock(clock), begun.task("", 0),
					gocron.WithDaylightSavingsTimePolicy(gocron.DaylightSavingsTimeRunAfterTransition))
				require.NoError(t, err)
				scheduler.Start()
				for _, want := range c.want {
					next, err := scheduled.NextRun()
					require.NoError(t, err)
					clock.Advance(next.Sub(clock.Now()))
					w.Settle()
					require.Equal(t, []string{" " + want}, begun.take())
				}
			})
		})
	}
}
