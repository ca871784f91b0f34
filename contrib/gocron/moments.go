package oncegocron

import (
	"time"

	"github.com/go-co-op/gocron/v2"
)

// moments are those at which gocron starts the task of a job. It is given them as a
// cron implementation, so that it starts no task at others by itself.
type moments struct {
	parse    func(location *time.Location) (after, error)
	location *time.Location
	after    after
}

var _ gocron.Cron = (*moments)(nil)

// IsValid is called once, before all else, with the location of the scheduler.
func (m *moments) IsValid(_ string, location *time.Location, now time.Time) (err error) {
	m.location = location
	m.after, err = m.parse(location)
	if err == nil && m.after(now).IsZero() {
		err = gocron.ErrCronJobInvalid
	}
	return err
}

// Next returns the first moment later than t. gocron leaves out one that looks like t
// on a clock, as an hour later when clocks are put back: so the zone of that must not
// change.
func (m *moments) Next(t time.Time) time.Time {
	next := m.after(t)
	if next.IsZero() {
		return next
	}
	next = next.In(m.location)
	if next.Format(time.DateTime) == t.Format(time.DateTime) {
		next = next.In(time.FixedZone(t.Zone()))
	}
	return next
}

// maxEarly is how much a run may be early at most: because the clock was set back since
// the timer was started.
const maxEarly = time.Minute

// tick returns the moment to which a run belongs that begins now: the newest one that
// is not later, or the next one if that is very near. It depends on now alone.
func (m *moments) tick(now time.Time) time.Time {
	since := now.Add(-time.Second)
	for next := m.after(since); next.IsZero() || next.After(now); next = m.after(since) {
		since = since.Add(since.Sub(now)) // twice as far back
	}
	tick, next := since, m.after(since)
	for !next.IsZero() && !next.After(now) {
		tick, next = next, m.after(next)
	}
	if !next.IsZero() && next.Sub(now) < min(next.Sub(tick)/4, maxEarly) {
		tick = next
	}
	return tick.In(m.location)
}
