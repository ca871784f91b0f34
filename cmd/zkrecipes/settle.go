package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	slots "github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/retry"
)

const (
	// settleNotice is how long a release may take before a message says that it does.
	// Until then a signal does not end it: with a server it takes no time.
	settleNotice = time.Second
	// settlePoll is how often to look whether it is confirmed, once servers answer.
	settlePoll = 250 * time.Millisecond
)

// An unconfirmedError means that the job ends without knowing that what it held is
// free.
type unconfirmedError struct{ text string }

// Error says why, and until when it stays taken.
func (e *unconfirmedError) Error() string { return e.text }

// settle releases what is held for the last time, when what it was for has ended, and
// waits until that is confirmed. If no server answers, it waits for one for as long as
// the session may live: the end of this process would leave the lock taken until then.
// A signal ends the wait. ended is how the command has ended, "" without one; release
// is nil if that was done before.
//
// The release can neither be bounded nor cancelled; the end of the client ends it.
func (j *job) settle(ended string, release func() error) error {
	limit := j.session.Timeout()
	until := time.Now().Add(limit)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var answered atomic.Bool // the last question, after the release
	done := make(chan error, 1)
	go func() { done <- j.confirm(ctx, release, &answered) }()
	notice := time.NewTimer(settleNotice)
	defer notice.Stop()
	for said, cut := false, false; ; {
		select {
		case err := <-done:
			if errors.Is(err, errWaitedInVain) {
				return inVain(limit, answered.Load())
			}
			return err
		case <-ctx.Done():
			return inVain(limit, answered.Load())
		case <-notice.C:
			if said = true; !cut {
				j.reportSettling(ended, until)
			}
		case sig := <-j.signals:
			cut = cut || endsWait(sig)
		}
		if said && cut {
			return &unconfirmedError{"a signal to end came before a server has answered; the session ends at about " + clock(until)}
		}
	}
}

// errWaitedInVain is that of a confirm that has waited for as long as the session may
// live.
var errWaitedInVain = errors.New("not confirmed")

// inVain says why a release is not confirmed for as long as the session may live.
func inVain(limit time.Duration, answered bool) error {
	if answered {
		return &unconfirmedError{fmt.Sprintf("servers answer, but have not confirmed the release for %v, the session timeout", limit)}
	}
	return &unconfirmedError{fmt.Sprintf("no server has answered for %v, the session timeout", limit)}
}

// reportSettling reports that no server has confirmed the release yet.
func (j *job) reportSettling(ended string, until time.Time) {
	kept := until.UTC().Truncate(time.Millisecond)
	what := "no server has confirmed the release yet"
	if ended != "" {
		what = fmt.Sprintf("the command has ended (%s), but %s", ended, what)
	}
	j.report.info(event{Event: "releasing", Command: ended, KeptUntil: &kept},
		"%s %s: without that %s %s taken until about %s; a signal ends the wait",
		clock(time.Now()), what, j.report.name(), j.paths.are(), clock(until))
}

// thenDelay is what comes between the end of the session and the next holder.
func (j *job) thenDelay() string {
	if j.lockDelay.value == 0 {
		return ""
	}
	return " and --lock-delay is over"
}

// confirm releases, and returns nil when all that was held is free, or will be as soon
// as the client is closed: a server answers in the session. answered says whether one
// has, the last time that one was asked.
func (j *job) confirm(ctx context.Context, release func() error, answered *atomic.Bool) error {
	if release != nil {
		broken, begun := j.session.Suspended(), time.Now()
		if err := release(); err != nil {
			return err
		}
		if j.isConfirmed(broken, time.Since(begun)) {
			return nil
		}
	}
	for !j.isFree(ctx, answered) {
		if retry.Sleep(ctx, settlePoll) != nil {
			return errWaitedInVain
		}
	}
	return nil
}

// isConfirmed reports whether a release that has returned nil was answered. If not, the
// client goes on with it: the connection was broken before, or broke meanwhile, for
// which broken is; or it took too long, which is a third of the session timeout.
func (j *job) isConfirmed(broken <-chan struct{}, took time.Duration) bool {
	select {
	case <-broken:
		return false
	default:
		return took < min(settleNotice, j.session.Timeout()/6) && j.cleanups.pending() == 0
	}
}

// isFree waits for a server, and reports whether nothing remains to be done before the
// client is closed. When the session is over in this process, it may still live on the
// servers: then the client closes it there some time later.
func (j *job) isFree(ctx context.Context, answered *atomic.Bool) bool {
	err := j.client.Sync(ctx, j.paths[0])
	if ctx.Err() != nil {
		return false
	}
	answered.Store(err == nil)
	if err != nil || j.cleanups.pending() > 0 {
		return false
	}
	if j.session.Err() == nil {
		return true
	}
	for held := range slots.Leases(j.held.Context()) { // of several paths one for each
		if exists, _, err := j.client.Exists(ctx, held.Path()); err != nil || exists {
			return false
		}
	}
	return true
}

// cleanups counts what the client has left to the background: of a job the deletion of
// its nodes, and of its record for a lock-delay, which the end of the session does not
// delete.
type cleanups struct{ n atomic.Int64 }

func (c *cleanups) pending() int64 { return c.n.Load() }

// observer returns what counts them.
func (c *cleanups) observer() framework.Observer {
	return framework.Observer{
		CleanupStarted: func(string) { c.n.Add(1) },
		CleanupEnded:   func(string, error) { c.n.Add(-1) },
	}
}
