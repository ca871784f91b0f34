package oncegocron

import (
	"testing"
	"time"
	_ "time/tzdata" // of any machine

	"github.com/stretchr/testify/require"
)

func location(t *testing.T, name string) *time.Location {
	l, err := time.LoadLocation(name)
	require.NoError(t, err)
	return l
}

func newMoments(t *testing.T, when Definition, l *time.Location) *moments {
	m := &moments{parse: when.parse}
	require.NoError(t, m.IsValid("", l, time.Date(2026, 1, 1, 0, 0, 0, 0, l)))
	return m
}

func TestTick(t *testing.T) {
	const day, hour = "0 3 * * *", "@hourly"
	for _, c := range []struct {
		when      Definition
		now, tick string
	}{
		{CronJob(day), "2026-11-26T03:00:00Z", "2026-11-26T03:00:00Z"},
		{CronJob(day), "2026-11-26T03:00:00.001Z", "2026-11-26T03:00:00Z"},
		{CronJob(day), "2026-11-26T23:00:00Z", "2026-11-26T03:00:00Z"},
		{CronJob(day), "2026-11-27T02:58:59Z", "2026-11-26T03:00:00Z"},
		{CronJob(day), "2026-11-27T02:59:01Z", "2026-11-27T03:00:00Z"},
		{CronJob(hour), "2026-11-26T23:59:30Z", "2026-11-27T00:00:00Z"},
		{CronJob(minute), "2026-11-26T23:58:44Z", "2026-11-26T23:58:00Z"},
		{CronJob(minute), "2026-11-26T23:58:46Z", "2026-11-26T23:59:00Z"},
		{CronJob("*/10 * * * * *"), "2026-11-26T23:58:47Z", "2026-11-26T23:58:40Z"},
		{CronJob("*/10 * * * * *"), "2026-11-26T23:58:48Z", "2026-11-26T23:58:50Z"},
		{CronJob("0 0 1 * *"), "2026-11-26T23:58:48Z", "2026-11-01T00:00:00Z"},
		{CronJob("0 0 29 2 *"), "2026-11-26T23:58:48Z", "2024-02-29T00:00:00Z"},
		{CronJob("0 3 * * 1-5"), "2026-11-29T12:00:00Z", "2026-11-27T03:00:00Z"},
		{CronJob("TZ=Asia/Tokyo 0 3 * * *"), "2026-11-26T18:00:00Z", "2026-11-26T18:00:00Z"},
		{DurationJob(7 * time.Minute), "2026-11-26T00:00:00Z", "2026-11-25T23:59:00Z"},
		{DurationJob(time.Hour), "2026-11-26T00:59:59.9Z", "2026-11-26T01:00:00Z"},
		{DurationJob(24 * time.Hour), "2026-11-26T23:58:59Z", "2026-11-26T00:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339Nano, c.now)
		require.NoError(t, err)
		require.Equal(t, c.tick, newMoments(t, c.when, time.UTC).tick(now).Format(time.RFC3339Nano), "%s at %s", c.when.text, c.now)
	}
}

const minute = "* * * * *"

// Every run from a moment on, until a quarter of the interval before the next, is for
// that moment; and the next moment does not depend on where one looks from.
func TestTickAndNextAgree(t *testing.T) {
	for _, when := range []Definition{
		CronJob("17,47 */2 * * *"), CronJob("30 1,2 * * *"), CronJob("30 * * * *"), DurationJob(time.Hour), DurationJob(37 * time.Minute),
	} {
		for _, name := range []string{"UTC", "America/New_York", "Europe/London", "Australia/Lord_Howe"} {
			m := newMoments(t, when, location(t, name))
			for _, changes := range []int{60 + 5, 60 + 26, 90 + 2, 270 + 2, 270 + 23, 300 + 3} {
				begin := time.Date(2026, 1, changes, 0, 0, 0, 0, time.UTC)
				for at := m.Next(begin); at.Before(begin.AddDate(0, 0, 5)); {
					next := m.Next(at)
					require.True(t, next.After(at))
					require.True(t, next.Equal(m.Next(next.Add(-time.Millisecond))), "%s after %s in %s", when.text, at, name)
					require.True(t, at.Equal(m.tick(at.Add(next.Sub(at)/2))), "%s at %s in %s", when.text, at, name)
					at = next
				}
			}
		}
	}
}

// What clocks show twice counts once, unless it is for each hour, and what they leave
// out is no moment; it is the same wherever one begins.
func TestDaylightSaving(t *testing.T) {
	york := location(t, "America/New_York")
	on := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, york) }
	for _, c := range []struct {
		crontab string
		from    time.Time
		want    []string
	}{
		{"30 1 * * *", on(11, 1), []string{"01 01:30 -0400", "02 01:30 -0500"}},
		{"30 1,2 * * *", on(11, 1), []string{"01 01:30 -0400", "01 02:30 -0500"}},
		{"15,45 1 * * *", on(11, 1), []string{"01 01:15 -0400", "01 01:45 -0400", "02 01:15 -0500"}},
		{"30 * * * *", on(11, 1).Add(time.Hour), []string{"01 01:30 -0400", "01 01:30 -0500", "01 02:30 -0500"}},
		{"30 1 * * *", on(11, 1).Add(2*time.Hour + time.Minute), []string{"02 01:30 -0500"}},
		{"30 2 * * *", on(3, 7), []string{"07 02:30 -0500", "09 02:30 -0400"}},
		{"30 * * * *", on(3, 8).Add(time.Hour), []string{"08 01:30 -0500", "08 03:30 -0400"}},
		{"TZ=UTC 30 1 * * *", on(11, 1), []string{"01 20:30 -0500", "02 20:30 -0500"}},
	} {
		for _, l := range []*time.Location{york, time.UTC} {
			when := c.crontab
			if l == time.UTC && when[0] != 'T' {
				when = "TZ=America/New_York " + when
			}
			m, at := newMoments(t, CronJob(when), l), c.from
			for _, want := range c.want {
				at = m.Next(at)
				require.Equal(t, want, at.In(york).Format("02 15:04 -0700"), when)
			}
		}
	}
}
