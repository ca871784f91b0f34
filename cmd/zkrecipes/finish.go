package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// finish records the run, if it is one that is recorded, releases the lease, reports
// how the command ended, and returns the exit code: the command's own only if the lease
// was held to the end, and the record made. more says that the job goes on, so that the
// code does not matter yet; again is the same, unless a signal has ended it meanwhile.
func (j *job) finish(o outcome, lasted time.Duration, more bool) (code int, again bool) {
	code, ended := o.end.exitCode(), time.Now()
	recorded, unrecorded := j.record(o)
	cut, released := j.release(o, more)
	again = more && !cut
	// A lease that was lost after the record was needed for nothing.
	lost := o.lost || errors.Is(unrecorded, lease.ErrLost) || errors.Is(released, lease.ErrLost) && !recorded
	consequence := ""
	switch {
	case lost:
		code = exitLost
		consequence = fmt.Sprintf("; exit code %d, for the loss of the %s", code, j.report.what)
	case !recorded && unrecorded != nil:
		code = exitCode(unrecorded, exitConflict)
	}
	e := event{Event: "released", Held: seconds(lasted), Command: o.end.String()}
	if again {
		consequence = ""
	} else {
		e.ExitCode = &code
	}
	if why := cmp.Or(unrecorded, released); why != nil && !o.lost { // a loss was reported when it happened
		e.Reason = errorText(why)
	}
	switch {
	case o.lost:
		e.Event = "stopped"
		j.report.warn(e, "%s the command has ended: %v%s", clock(ended), o.end, consequence)
	case lost:
		e.Event = "unprotected"
		j.report.warn(e, "%s the command ran to its end (%v) but was not protected until then: %s%s", clock(ended), o.end, e.Reason, consequence)
	case unrecorded != nil && !recorded:
		e.Event = "unrecorded"
		j.report.warn(e, "%s the command has ended (%v), but the run is not recorded: %s; exit code %d", clock(ended), o.end, e.Reason, code)
	case unrecorded != nil:
		j.report.warn(e, "%s the command has ended (%v), but another record of its run was made meanwhile: %s", clock(ended), o.end, e.Reason)
	case released != nil:
		j.report.warn(e, "%s %s not released yet, and will be free when the session has ended%s: %s",
			j.report.name(), j.paths.are(), j.thenDelay(), e.Reason)
	case cut:
		e.Reason = "a signal to end came before --min-hold was over"
		j.report.info(e, "%s %s %s released, before --min-hold is over: a signal to end has come", clock(time.Now()), j.report.name(), j.paths.are())
	case o.revoked:
		j.report.info(e, "%s the command has ended (%v), and %s %s released", clock(ended), o.end, j.report.name(), j.paths.are())
	default:
		j.report.info(e, "")
	}
	return code, again
}
