package main

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// record records the run of a command that has ended with 0 under the lock, before that
// is released. Without a connection it waits while the lock is certain.
func (j *job) record(o outcome) (done bool, err error) {
	if j.recipe.run == nil || o.lost || o.end.exitCode() != 0 {
		return false, nil
	}
	err = j.recipe.run.Record(context.Background(), j.held.(*lease.Lease))
	return err == nil || errors.Is(err, once.ErrRecorded), err
}

// reportRecorded reports that the command is not run, because err says that its run is
// recorded, and returns the exit code.
func (j *job) reportRecorded(err error) int {
	ctx, cancel := context.WithTimeout(context.Background(), listLimit)
	defer cancel()
	e := event{Event: "recorded", Reason: errorText(err), ExitCode: new(int)}
	by := ""
	// If it cannot be read, or was removed just now, it is not known by whom.
	if found, err := j.recipe.run.Recorded(ctx); err == nil && found != nil {
		e.Token, e.Holder = found.Token, newHolderJSON(found.Holder)
		by = describeRecorder(found.Holder)
	}
	j.report.info(e, "%s is recorded as finished%s: the command is not run again", j.report.name(), by)
	return 0
}

// describeRecorder says by whom and when a run was finished, "" if the record does not
// say: one that was made by hand need not.
func describeRecorder(h lease.Holder) (text string) {
	at := h.Since
	h.Since = time.Time{}
	if h != (lease.Holder{}) {
		text = ", by " + h.String()
	}
	if !at.IsZero() {
		text += ", at " + at.Format(time.RFC3339)
	}
	return text
}
