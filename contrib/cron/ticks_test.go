package oncecron

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
)

// at is a minute of a day.
func at(minute int) time.Time { return time.Date(2026, 11, 26, 0, minute, 0, 0, time.UTC) }

// minutely returns ticks that were asked what follows these minutes.
func minutely(t *testing.T, asked ...int) *ticks {
	t.Helper()
	s, err := cron.ParseStandard("* * * * *")
	require.NoError(t, err)
	ticks := &ticks{of: s}
	for _, minute := range asked {
		require.Equal(t, at(minute+1), ticks.Next(at(minute)))
	}
	return ticks
}

func TestTake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asked       []int // cron and others ask for the tick after each
		fired, took []int // what each run is told, and takes
	}{
		"each in its time":                {[]int{0, 1, 2, 3}, []int{1, 2, 3}, []int{1, 2, 3}},
		"two runs behind three ticks":     {[]int{0, 1, 2, 3}, []int{3, 3, 3}, []int{3, 2, 1}},
		"a late answer":                   {[]int{0, 1, 2, 3}, []int{3, 2, 1}, []int{3, 2, 1}},
		"the one before is skipped":       {[]int{0, 1, 2, 3}, []int{1, 3}, []int{1, 3}},
		"cron was stopped for two":        {[]int{0, 1, 4}, []int{1, 5}, []int{1, 5}},
		"all before are taken":            {[]int{0, 1}, []int{1, 1}, []int{1, 1}},
		"others ask what comes later":     {[]int{0, 7, 8, 1, 9, 2}, []int{1, 2, 2}, []int{1, 2, 2}},
		"the clock is set back":           {[]int{30, 31, 2, 3, 4}, []int{31, 3, 4}, []int{31, 3, 4}},
		"to a tick that was taken":        {[]int{30, 31, 30, 31}, []int{31, 31, 32}, []int{31, 31, 32}},
		"the clock is set ahead":          {[]int{0, 30, 31}, []int{1, 31, 32}, []int{1, 31, 32}},
		"paused for ten, then one late":   {[]int{0, 12, 13}, []int{13, 13}, []int{13, 1}},
		"one was asked for several times": {[]int{0, 0, 0, 1}, []int{1, 2}, []int{1, 2}},
	} {
		ticks := minutely(t, c.asked...)
		for i, fired := range c.fired {
			require.Equal(t, at(c.took[i]), ticks.take(at(fired)), fmt.Sprint(name, ", run ", i))
		}
	}
}

// However many ticks are left out, what is remembered does not grow, and the tick that
// fired last is right.
func TestForgotten(t *testing.T) {
	t.Parallel()
	ticks := minutely(t)
	for minute := range 10 * maxTicks {
		ticks.Next(at(minute))
	}
	require.Len(t, ticks.open, maxTicks)
	require.Equal(t, at(10*maxTicks-1), ticks.take(at(10*maxTicks-1)))
	require.Equal(t, at(1), ticks.take(at(1)))
}

// A schedule without a next tick has the zero time, which is none.
func TestNeverAgain(t *testing.T) {
	t.Parallel()
	never, err := cron.ParseStandard("0 0 30 2 *")
	require.NoError(t, err)
	ticks := &ticks{of: never}
	require.Zero(t, ticks.Next(at(0)))
	require.Empty(t, ticks.open)
}

// The ticks of an interval do not depend on when they are asked for.
func TestAligned(t *testing.T) {
	t.Parallel()
	delay := cron.Every(7 * time.Hour)
	for _, s := range []cron.Schedule{delay, &delay} {
		a := aligned(s)
		first := a.Next(at(3))
		require.Equal(t, first, a.Next(at(17)))
		require.Equal(t, first, a.Next(first.Add(-time.Nanosecond)))
		require.Equal(t, first.Add(7*time.Hour), a.Next(first))
	}
	berlin := time.FixedZone("CET", 3600)
	require.True(t, at(24*60).Equal(aligned(cron.Every(24*time.Hour)).Next(at(5).In(berlin))))
	require.Equal(t, at(5), aligned(cron.ConstantDelaySchedule{Delay: 5*time.Minute + time.Millisecond}).Next(at(0)))
	require.Equal(t, at(0).Add(time.Second), aligned(cron.ConstantDelaySchedule{}).Next(at(0)), "not at once again")
	spec, err := cron.ParseStandard("@daily")
	require.NoError(t, err)
	require.Equal(t, spec, aligned(spec))
}

// When the clocks change each tick is one moment for all processes, whenever they were
// started: an hour that does not exist has none, and one that exists twice has two.
func TestClocksChange(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for _, c := range []struct {
		spec, day string
		wanted    []string
	}{
		{"30 2 * * *", "2026-03-28", []string{"2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"}},
		{"0 3 * * *", "2026-03-28", []string{"2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"}},
		{"30 2 * * *", "2026-10-25", []string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"}},
		{"0 3 * * *", "2026-10-25", []string{"2026-10-25T02:00:00Z", "2026-10-26T02:00:00Z"}},
	} {
		s, err := cron.ParseStandard(c.spec)
		require.NoError(t, err)
		from, err := time.ParseInLocation(time.DateOnly, c.day, berlin)
		require.NoError(t, err)
		end := from.Add(51 * time.Hour)
		var seen []string
		for started := from; started.Before(end); started = started.Add(11 * time.Minute) {
			tick := (&ticks{of: s}).Next(started)
			if text := tick.UTC().Format(time.RFC3339); tick.Before(end) && !slices.Contains(seen, text) {
				seen = append(seen, text)
			}
		}
		require.Equal(t, c.wanted, seen, c.spec)
	}
}
