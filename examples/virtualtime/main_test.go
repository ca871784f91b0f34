package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRun(t *testing.T) {
	server := zktest.NewServer(t)
	var out bytes.Buffer
	require.NoError(t, program.Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	require.Equal(t, `2 processes and 6 accounts: each was billed once, and no two at the same time
what happens when the holder is cut off, or answers are dropped: go test -v ./examples/virtualtime
`, out.String())
	require.Empty(t, server.Sessions())
	require.Empty(t, server.Children(lockPath))
	out.Reset()
	require.NoError(t, program.Start(t.Context(), nil, &out))
	require.NotEmpty(t, out.String())
}

// Processes that do not have the same lock would be seen.
func TestProcessesWithoutALockAreSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := newMemory(2, time.Minute)
		require.NoError(t, atOnce(func() error {
			return (&Biller{Lock: new(leasetest.Acquirer), Ledger: ledger}).Run(t.Context())
		}))
		require.EqualError(t, ledger.check(), "account 1 was billed 2 times")
	})
}

func TestCheck(t *testing.T) {
	now := time.Now()
	m := newMemory(2, 0)
	m.bills = []*bill{
		{account: "account 1", began: now, ended: now.Add(2)},
		{account: "account 2", began: now.Add(1), ended: now.Add(3)},
	}
	require.EqualError(t, m.check(), "account 1 and account 2 were billed at the same time")
	m.bills[1].began = now.Add(2)
	require.NoError(t, m.check())
	m.bills[1].err = errRefused
	require.EqualError(t, m.check(), "account 2 was billed 0 times")
}

// The ledger refuses what a process sends that was paused, and lost the lock meanwhile,
// also if the next holder has only read until then.
func TestLateBillIsRefused(t *testing.T) {
	t.Parallel()
	ledger := newMemory(2, 0)
	require.NoError(t, ledger.Bill(t.Context(), "account 1", 7))
	unbilled, err := ledger.Unbilled(t.Context(), 9)
	require.NoError(t, err)
	require.Equal(t, []string{"account 2"}, unbilled)
	require.EqualError(t, ledger.Bill(t.Context(), "account 2", 7), "token 7 is older than 9")
	require.NoError(t, ledger.Bill(t.Context(), "account 2", 9))
	require.NoError(t, ledger.check())
}

func TestNoServer(t *testing.T) {
	require.ErrorContains(t, program.Start(t.Context(), []string{"--servers", "nonsense:port"}, &bytes.Buffer{}), "config.Servers")
	require.Error(t, program.Start(t.Context(), []string{"--nonsense"}, &bytes.Buffer{}))
}
