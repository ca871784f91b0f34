package integration

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

const electionPath = "/elections/next"

func newElection(tb testing.TB, client *framework.Client, id string) *leader.Election {
	tb.Helper()
	e, err := leader.New(client, electionPath, leader.WithID(id))
	require.NoError(tb, err)
	return e
}

// campaign acquires in the background. Its channel receives nil if that fails.
func campaign(tb testing.TB, e *leader.Election) <-chan *lease.Lease {
	tb.Helper()
	granted := make(chan *lease.Lease, 1)
	go func() {
		term, err := e.Acquire(context.Background(), limit)
		assert.NoError(tb, err)
		granted <- term
	}()
	return granted
}

// awaitCandidates waits until an election has n of them.
func awaitCandidates(tb testing.TB, observer *framework.Client, n int) {
	tb.Helper()
	ctx := within(tb, limit)
	for {
		children, _, w, err := observer.ChildrenWatch(ctx, electionPath)
		require.NoError(tb, err)
		if len(children) == n {
			return
		}
		select {
		case <-w.Events():
		case <-ctx.Done():
			require.Len(tb, children, n)
		}
	}
}

// candidates returns their ids, in order.
func candidates(tb testing.TB, e *leader.Election) (ids []string) {
	tb.Helper()
	all, err := e.Contenders(within(tb, limit))
	require.NoError(tb, err)
	for _, c := range all {
		ids = append(ids, c.Holder.Who)
	}
	return ids
}
