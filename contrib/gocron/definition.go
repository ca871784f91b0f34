package oncegocron

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/robfig/cron/v3"
	"github.com/zkrecipes/zkrecipes/framework"
)

// A Definition says at which moments a job is to run. CronJob and DurationJob make it.
type Definition struct {
	text  string
	parse func(location *time.Location) (after, error)
	clock Clock
}

// after returns the first moment later than t, zero if there is none.
type after func(t time.Time) time.Time

// A Clock tells the time, as those of package clockwork do.
type Clock interface {
	// Now returns the present time.
	Now() time.Time
}

// WithClock returns the definition for a scheduler with that clock. It is needed with
// gocron.WithClock.
func (d Definition) WithClock(clock Clock) Definition {
	d.clock = clock
	return d
}

func (d Definition) now() time.Time {
	if d.clock == nil {
		return time.Now()
	}
	return d.clock.Now()
}

// DurationJob runs at the multiples of an interval, as time.Time.Truncate has them:
// each hour on the hour, each 24 hours at midnight UTC. So the first run is earlier
// than with gocron.DurationJob, and in all processes at the same time. The records of a
// day must be fewer than once.MaxRecords: for less than a second use
// once.WithRetention.
func DurationJob(interval time.Duration) Definition {
	return Definition{text: "@every " + interval.String(), parse: func(*time.Location) (after, error) {
		if interval <= 0 {
			return nil, fmt.Errorf("%w: an interval of %v", framework.ErrInvalidArgument, interval)
		}
		return func(t time.Time) time.Time { return t.Truncate(interval).Add(interval) }, nil
	}}
}

var parser = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// CronJob runs by a crontab, as gocron.CronJob does: of five fields, or of six that
// begin with the second. Its location is that of the scheduler, or its own as in
// "TZ=Asia/Tokyo 0 3 * * *". "@every" is refused: use DurationJob.
func CronJob(crontab string) Definition {
	return Definition{text: crontab, parse: func(location *time.Location) (after, error) {
		parsed, err := parser.Parse(crontab)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", gocron.ErrCronJobParse, err)
		}
		spec, ok := parsed.(*cron.SpecSchedule)
		if !ok {
			return nil, fmt.Errorf("%w: the ticks of %q depend on the start of the process: use DurationJob", gocron.ErrCronJobParse, crontab)
		}
		if !strings.HasPrefix(crontab, "TZ=") && !strings.HasPrefix(crontab, "CRON_TZ=") {
			spec.Location = location
		}
		return func(t time.Time) time.Time { return afterIn(spec, t) }, nil
	}}
}

// afterIn returns the first moment of a crontab after t. The crontab finds those in the
// hour that comes twice when clocks are put back twice; the second ones count only if
// it is for every hour.
func afterIn(spec *cron.SpecSchedule, t time.Time) time.Time {
	const allHours = 1<<24 - 1
	next := spec.Next(t.In(spec.Location))
	for spec.Hour&allHours != allHours && isRepeated(next) {
		next = spec.Next(next)
	}
	return next
}

// isRepeated reports whether clocks have shown the same as at t before they were put
// back.
func isRepeated(t time.Time) bool {
	begin, _ := t.ZoneBounds()
	if begin.IsZero() {
		return false
	}
	_, was := begin.Add(-1).Zone()
	_, is := t.Zone()
	return t.Add(time.Duration(is-was)*time.Second).Before(begin) && was > is
}
