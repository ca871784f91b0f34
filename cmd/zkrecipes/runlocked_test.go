//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A goneLease was lost by the clock before its context ended.
type goneLease struct{ ctx context.Context } //nolint:containedctx // as a lease has one

func (l goneLease) Context() context.Context { return l.ctx }

func (goneLease) Err() error { return lease.ErrLost }

func (goneLease) TrustedUntil() time.Time { return time.Now() }

func (goneLease) RevocationRequested() <-chan struct{} { return nil }

func (goneLease) Path() string { return testLock + "/of-a-test" }

func (goneLease) Tokens() []lease.Token { return []lease.Token{1} }

func (goneLease) Release() error { return lease.ErrLost }

func (goneLease) ReleaseAsync() error { return lease.ErrLost }

// A command is not started under a lease that is over, whether it shows by the clock or
// by the context.
func TestNothingIsStartedUnderALeaseThatIsOver(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(lease.ErrLost)
	for name, ctx := range map[string]context.Context{"by the clock": t.Context(), "also by the context": ended} {
		t.Run(name, func(t *testing.T) {
			open := func(name string) *os.File {
				f, err := os.Create(filepath.Join(t.TempDir(), name))
				require.NoError(t, err)
				t.Cleanup(func() { f.Close() })
				return f
			}
			f, err := (&program{}).parseRun(append([]string{"--lock", testLock}, command("exit", "0")...))
			require.NoError(t, err)
			out := open("out")
			j := &job{
				program: &program{stdin: open("in"), stdout: out, stderr: open("err"), env: os.Environ()}, jobFlags: &f.jobFlags,
				file: os.Args[0], signals: make(chan os.Signal, 64), held: goneLease{ctx},
				session: connectClient(t, zktest.NewServer(t)).Session(),
			}
			j.report = newReporter(j.stderr, testLock, true, false)
			defer j.report.close()
			_, _, err = j.runLocked()
			require.ErrorIs(t, err, lease.ErrLost)
			require.ErrorContains(t, err, "the command was not started")
		})
	}
}

// A signal that ends the wait counts even if the wait ends in another way at the same
// moment, or ignores it. If the wait was over before, the signal is kept for the
// command.
func TestSignalAtTheEndOfTheWait(t *testing.T) {
	never := func(context.Context) error { return nil }
	for name, f := range map[string]func(ctx context.Context) error{
		"granted after all": func(ctx context.Context) error { <-ctx.Done(); return nil },
		"failed":            func(ctx context.Context) error { <-ctx.Done(); return errFake },
		"reported":          func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
		"at the same time":  never,
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
			for range 50 {
				ctx, cancel := context.WithCancelCause(t.Context())
				signals := make(chan os.Signal, 1)
				signals <- sig
				err := untilSignal(ctx, cancel, signals, f)
				notified := (*signalError)(nil)
				if err == nil && name == "at the same time" {
					require.Len(t, signals, 1, "it is kept")
					require.NoError(t, context.Cause(ctx))
					continue
				}
				require.ErrorAs(t, err, &notified, name)
				require.Equal(t, sig, notified.signal)
				cancel(nil)
			}
		}
	}
	signals := make(chan os.Signal, 2)
	signals <- syscall.SIGWINCH
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	require.NoError(t, untilSignal(ctx, cancel, signals, never))
	require.ErrorIs(t, untilSignal(ctx, cancel, signals, func(context.Context) error { return errFake }), errFake)
	require.NoError(t, context.Cause(ctx))
}
