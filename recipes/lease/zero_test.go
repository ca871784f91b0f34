package lease_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

const hint = "was the error of Acquire checked?"

// A lease that was never granted says so, and is never valid.
func TestLeaseThatWasNeverGranted(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]*lease.Lease{"nil": nil, "zero": {}, "of no claim": lease.New(nil)} {
		for method, err := range map[string]error{"Err": held.Err(), "Release": held.Release(), "ReleaseAsync": held.ReleaseAsync(), "Confirm": held.Confirm(t.Context())} {
			require.ErrorIs(t, err, framework.ErrInvalidArgument, "%s: %s", name, method)
			require.ErrorContains(t, err, hint)
		}
		for method, call := range map[string]func(){
			"Context":             func() { held.Context() },
			"Done":                func() { held.Done() },
			"Token":               func() { _ = held.Token() },
			"Path":                func() { _ = held.Path() },
			"Check":               func() { held.Check() },
			"TrustedUntil":        func() { held.TrustedUntil() },
			"RevocationRequested": func() { held.RevocationRequested() },
		} {
			require.PanicsWithError(t, held.Err().Error(), call, "%s: %s", name, method)
		}
	}
}

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, lease.Do(t.Context(), nil, time.Second, func(context.Context, *lease.Lease) error { return nil }), framework.ErrInvalidArgument)
	require.ErrorIs(t, lease.Do(t.Context(), lost{}, time.Second, nil), framework.ErrInvalidArgument)
	require.ErrorIs(t, lease.RequestRevocation(t.Context(), nil, "/locks/lock-0000000001"), framework.ErrInvalidArgument)
}
