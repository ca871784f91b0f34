package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An Attempt is an Acquire in a goroutine of its own.
type Attempt struct {
	// The result, to be read once Done is closed.
	Lease *lease.Lease  // nil on failure
	Err   error         // nil on success
	Took  time.Duration // in virtual time

	done   chan struct{}
	cancel context.CancelCauseFunc
	t      *testing.T
}

// Start begins an Attempt, with a context of its own, and returns when it waits for
// something.
func (w *World) Start(a lease.Acquirer, timeout time.Duration) *Attempt {
	return w.StartWith(w.T.Context(), a, timeout)
}

// StartWith is Start with a context derived from ctx.
func (w *World) StartWith(ctx context.Context, a lease.Acquirer, timeout time.Duration) *Attempt {
	at := w.Begin(ctx, a, timeout)
	w.Settle()
	return at
}

// Begin is StartWith that waits for nothing.
func (w *World) Begin(ctx context.Context, a lease.Acquirer, timeout time.Duration) *Attempt {
	ctx, cancel := context.WithCancelCause(ctx)
	at := &Attempt{done: make(chan struct{}), cancel: cancel, t: w.T}
	began := time.Now()
	go func() {
		defer close(at.done)
		at.Lease, at.Err = a.Acquire(ctx, timeout)
		at.Took = time.Since(began)
	}()
	w.T.Cleanup(func() { cancel(nil) })
	return at
}

// Done is closed when the attempt has ended.
func (at *Attempt) Done() <-chan struct{} { return at.done }

// Waiting reports whether the attempt has not ended.
func (at *Attempt) Waiting() bool { return !Closed(at.done) }

// Closed reports whether a channel on which nothing is sent has been closed.
func Closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Cancel ends the attempt's context, with a cause.
func (at *Attempt) Cancel(cause error) { at.cancel(cause) }

// Granted waits for the attempt to succeed and returns the lease.
func (at *Attempt) Granted() *lease.Lease {
	at.t.Helper()
	at.await()
	require.NoError(at.t, at.Err)
	return at.Lease
}

// Failed waits for the attempt to fail and returns its error.
func (at *Attempt) Failed() error {
	at.t.Helper()
	at.await()
	require.Error(at.t, at.Err)
	require.Nil(at.t, at.Lease)
	return at.Err
}

// patience is virtual time, after which a wait counts as lost.
const patience = 10 * time.Minute

func (at *Attempt) await() {
	at.t.Helper()
	select {
	case <-at.done:
	case <-time.After(patience):
		at.t.Fatal("acquire has not returned for 10 minutes of virtual time")
	}
}

// Acquire acquires at once, or fails the test.
func (w *World) Acquire(a lease.Acquirer) *lease.Lease {
	w.T.Helper()
	return w.Start(a, time.Minute).Granted()
}
