package leader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// ErrStop is what the function given to Lead returns, alone or wrapped, to end Lead.
var ErrStop = errors.New("stop leading")

// ErrRevocationRequested is the cause of the end of a context that Lead made: a client
// called lease.RequestRevocation for the term. The term is valid until the function
// returns.
var ErrRevocationRequested = errors.New("revocation of the term was requested")

// steady is the duration of a term after which a failure begins a new series.
const steady = time.Minute

// Lead campaigns, runs fn when it leads, resigns when fn has returned, and campaigns
// again, until ctx ends. It runs one fn at a time, on the calling goroutine.
//
// fn gets the term and a context for its work, which ends when ctx does, when the term
// is lost (the cause is then an ErrLost), and when revocation is requested (the cause
// is ErrRevocationRequested; the term is still valid, so that work can be handed over
// in order). fn should return when its context ends. It must not release the term, nor
// leave behind goroutines that act as the leader, or leases that it acquired on the
// term with its context.
//
// What fn returns:
//
//   - nil: the term is over. Lead campaigns again at once, or, so that it cannot spin,
//     one pause after the term began.
//   - ErrStop: Lead ends. It returns nil if fn returned ErrStop itself, and what fn
//     returned if that wraps ErrStop. If the term was lost before fn returned, the
//     error is an ErrLost as well.
//   - the error of its context, when that has ended: nothing went wrong. Lead campaigns
//     again, in the next session if the session was lost.
//   - any other error: it is logged, and Lead campaigns again after a pause, which
//     grows while terms fail within a minute: see WithBackoff.
//
// If fn panics, Lead resigns, and the panic goes on.
//
// Lead returns the cause of ctx when ctx has ended: context.Canceled, unless ctx has
// another one. It returns an error at once if repetition cannot help, such as
// framework.ErrClosed or framework.ErrNoAuth. Every other failure is logged, and Lead
// tries again. Before a client is closed, end ctx and wait for Lead, or set
// framework.Config.CloseGrace: then the next leader begins at once, and not before fn
// has returned.
//
// If ctx is the context of a term of the same election, fn runs as a part of that term.
func (e *Election) Lead(ctx context.Context, fn func(ctx context.Context, term *lease.Lease) error) error {
	if err := e.check(); err != nil {
		return err
	}
	if fn == nil {
		return fmt.Errorf("lead %s: %w: fn is nil", e.path, framework.ErrInvalidArgument)
	}
	l := &lead{
		Election: e, fn: fn, pauses: e.backoff.Start(),
		log: kit.Of(e.recipe.Client).Logger().With("election", e.path, "id", quote.Brief(e.id)),
	}
	for {
		if over, err := l.campaign(ctx); over {
			return err
		}
	}
}

// A lead is one call of Lead.
type lead struct {
	*Election
	fn     func(ctx context.Context, term *lease.Lease) error
	pauses *retry.Schedule // of the present series of failures
	log    *slog.Logger
}

// campaign is one campaign, the term, and the pause after it. over says that Lead ends.
func (l *lead) campaign(ctx context.Context) (over bool, err error) {
	began := time.Now()
	term, err := l.Acquire(ctx, lease.Forever)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return true, l.cancelled(ctx, err)
	case hopeless(err),
		errors.Is(err, lease.ErrLost),            // ctx belongs to a lease that is over
		errors.Is(err, framework.ErrSessionLost): // the client is pinned to a session
		return true, fmt.Errorf("lead: %w", err)
	default:
		l.log.Warn("campaign failed", "error", err)
		return l.pauseAfter(ctx, began, err)
	}
	began = time.Now()
	l.log.Info("leading", "token", term.Token())
	failed, ended := l.serve(term)
	l.logEnd(term, failed, ended)
	switch {
	case errors.Is(failed, ErrStop):
		if failed == ErrStop { //nolint:errorlint // wrapped, it says something
			failed = nil
		}
		return true, errors.Join(failed, ended)
	case ctx.Err() != nil:
		err := l.cancelled(ctx, nil)
		if !errors.Is(ended, lease.ErrLost) { // a term that could not be released
			err = errors.Join(err, ended)
		}
		return true, err
	case hopeless(ended):
		return true, fmt.Errorf("lead %s: %w", l.path, ended)
	case ended != nil: // the error of fn does not count if the term was lost
		return l.pauseAfter(ctx, began, nil)
	}
	return l.pauseAfter(ctx, began, failed)
}

// cancelled is the error when ctx has ended. A campaign that a deadline ended may have
// met a failure that says more.
func (l *lead) cancelled(ctx context.Context, campaign error) error {
	err := fmt.Errorf("lead %s: %w", l.path, context.Cause(ctx))
	if late := (*lease.TimeoutError)(nil); errors.As(campaign, &late) && late.Err != nil {
		err = fmt.Errorf("%w; last failure: %w", err, late.Err)
	}
	return err
}

// serve runs fn for a term, and resigns. failed is what went wrong in fn, and ended is
// nil unless the term did not last.
func (l *lead) serve(term *lease.Lease) (failed, ended error) {
	defer func() { // also if fn panics
		release := term.Release
		if l.recipe.Terms.MinHold > 0 && term.Context().Err() != nil { // Lead has to end soon
			release = term.ReleaseAsync
		}
		ended = release()
		if errors.Is(ended, lease.ErrReleased) {
			ended = nil // by fn, which must not
		}
	}()
	if term.Err() != nil || term.Context().Err() != nil { // between the grant and now
		return nil, nil
	}
	ctx, cancel := context.WithCancelCause(term.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-term.RevocationRequested():
			cancel(ErrRevocationRequested)
		case <-ctx.Done():
		}
	}()
	defer func() {
		cancel(nil)
		<-watched
	}()
	failed = l.fn(ctx, term)
	obeyed := ctx.Err() != nil && (errors.Is(failed, ctx.Err()) || errors.Is(failed, context.Cause(ctx)))
	if obeyed && !errors.Is(failed, ErrStop) {
		failed = nil
	}
	return failed, nil
}

// logEnd logs the end of a term.
func (l *lead) logEnd(term *lease.Lease, failed, ended error) {
	log := l.log.With("token", term.Token())
	switch {
	case ended != nil:
		log.Warn("leadership lost", "error", errors.Join(ended, failed))
	case failed != nil && !errors.Is(failed, ErrStop):
		log.Warn("resigned after a failure", "error", failed)
	default:
		log.Info("resigned")
	}
}

// pauseAfter pauses: after a failure as long as the backoff says, otherwise only so
// long that terms cannot follow each other in a spin.
func (l *lead) pauseAfter(ctx context.Context, began time.Time, failed error) (over bool, err error) {
	took := time.Since(began)
	if failed == nil || took >= steady {
		l.pauses = l.backoff.Start()
	}
	pause, more := l.pauses.Next()
	switch {
	case failed == nil:
		l.pauses = l.backoff.Start()
		pause -= took
	case !more:
		return true, fmt.Errorf("lead %s: %w", l.path, failed)
	}
	_ = retry.Sleep(ctx, pause) // the next campaign says that ctx has ended
	return false, nil
}

// hopeless reports whether repetition cannot help.
func hopeless(err error) bool {
	return slices.ContainsFunc([]error{
		framework.ErrClosed, framework.ErrNoAuth, framework.ErrInvalidACL, framework.ErrAuthFailed,
		framework.ErrInvalidPath, framework.ErrInvalidArgument, framework.ErrTooLarge,
		framework.ErrNoChildrenForEphemerals, lease.ErrSequenceExhausted,
	}, func(final error) bool { return errors.Is(err, final) })
}
