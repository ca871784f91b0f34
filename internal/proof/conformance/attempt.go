package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An Attempt is an Acquire that runs in its own goroutine.
type Attempt struct {
	// The result, to be read once Done is closed.
	Lease *lease.Lease  // nil on failure
	Err   error         // nil on success
	Took  time.Duration // in virtual time

	done   chan struct{}
	cancel context.CancelCauseFunc
	t      *testing.T
}

// Start begins an Attempt with its own context. It returns when the Attempt waits for
// something, or has ended.
func (w *World) Start(a lease.Acquirer, timeout time.Duration) *Attempt {
	return w.StartWith(w.T.Context(), a, timeout)
}

// StartWith is Start with a context derived from ctx.
func (w *World) StartWith(ctx context.Context, a lease.Acquirer, timeout time.Duration) *Attempt {
	at := w.Begin(ctx, a, timeout)
	w.Settle()
	return at
}

// Begin is StartWith without waiting.
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

// Closed reports whether a channel that carries no values has been closed.
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

// waitLimit is the virtual time after which an attempt counts as stuck.
const waitLimit = 10 * time.Minute

func (at *Attempt) await() {
	at.t.Helper()
	select {
	case <-at.done:
	case <-time.After(waitLimit):
		at.t.Fatal("acquire has not returned for 10 minutes of virtual time")
	}
}

// Acquire waits up to a minute for a lease, and fails the test without one.
func (w *World) Acquire(a lease.Acquirer) *lease.Lease {
	w.T.Helper()
	return w.Start(a, time.Minute).Granted()
}
