package main

import (
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
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
// job has to end then, and so does its session, with which the lock is free. So while
// servers answer, zkrecipes never outlives such a signal by more than the command does.
//
// more says that the job goes on. Else the release is the last one, and is settled,
// unless the lease was lost.
func (j *job) release(o outcome, more bool) (cut bool, err error) {
	until := j.since.Add(j.minHold.value)
	switch {
	case time.Now().Before(until) && !o.lost:
		return j.releaseLater(o, until, more)
	case more, o.lost:
		return false, j.held.Release() // of a lost lease, the node goes in the background or with the session
	}
	return false, j.settle(o.end.String(), j.held.Release)
}

// releaseLater is release before --min-hold is over.
func (j *job) releaseLater(o outcome, until time.Time, more bool) (cut bool, err error) {
	if err := j.held.ReleaseAsync(); err != nil { // it is not valid any more, but the lock stays taken
		return false, err
	}
	if cut = o.signalled; !cut {
		cut = j.keepUntil(until, o.end)
	}
	if more && !cut {
		return cut, nil
	}
	select {
	case <-j.session.Done():
		if errors.Is(j.session.Err(), framework.ErrTrustExpired) { // on the servers it may live on
			return cut, &unconfirmedError{"no server has answered, so zkrecipes has given the session up"}
		}
		return cut, nil // there is nothing left to release
	default:
	}
	return cut, j.settle(o.end.String(), nil)
}

// keepUntil waits for the rest of --min-hold, and says so.
func (j *job) keepUntil(until time.Time, end ending) (cut bool) {
	kept := until.UTC().Truncate(time.Millisecond)
	j.report.info(event{Event: "keeping", Command: end.String(), KeptUntil: &kept},
		"%s the command has ended (%v); %s %s kept until %s (--min-hold)", clock(time.Now()), end, j.report.name(), j.paths.are(), clock(until))
	return j.rest(time.Until(until))
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
