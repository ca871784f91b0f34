package main

import (
	"time"
)

// giveBack releases what was granted if the command was not started. It waits for
// nothing, because the end of the job or a next term frees it even before --min-hold is
// over: that is for work that was done. With a lock-delay, the end of the session alone
// would be an unclean end.
func (j *job) giveBack() {
	if j.held != nil {
		_ = j.held.ReleaseAsync()
	}
}

// release releases the lease when the command has ended, and waits for the rest of
// --min-hold. cut says that a signal to end has come before, or comes meanwhile: the
// job has to end then, and so does its session, with which the lock is free. So
// zkrecipes never outlives such a signal by more than the command does.
func (j *job) release(o outcome) (cut bool, err error) {
	until := j.since.Add(j.minHold.value)
	if o.lost || !time.Now().Before(until) {
		return false, j.held.Release() // of a lost lease, the node goes in the background or with the session
	}
	if err := j.held.ReleaseAsync(); err != nil { // it is not valid any more, but the lock stays taken
		return false, err
	}
	if o.signalled {
		return true, nil
	}
	kept := until.UTC().Truncate(time.Millisecond)
	j.report.info(event{Event: "keeping", Command: o.end.String(), KeptUntil: &kept},
		"%s the command has ended (%v); %s %s kept until %s (--min-hold)", clock(time.Now()), o.end, j.report.name(), j.paths.are(), clock(until))
	return j.rest(time.Until(until)), nil
}

// rest waits until the time has passed or the session is over. It returns true if a
// signal ends the wait before. Signals that would end a wait for a lock do.
func (j *job) rest(d time.Duration) (cut bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return false
		case <-j.session.Done():
			return false
		case sig := <-j.signals:
			if endsWait(sig) {
				return true
			}
		}
	}
}
