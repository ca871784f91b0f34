package acquire_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Observers of requests and states cost an acquire nothing either.
func TestAcquiresAndHoldsWithoutObserversCostNoAllocation(t *testing.T) {
	c, err := framework.Connect(t.Context(), framework.Config{
		Servers: []string{zktest.NewServer(t).Addr()}, Namespace: "ns",
		Observers: []framework.Observer{{RequestEnded: func(context.Context, framework.Request) {}}, {}},
	})
	require.NoError(t, err)
	defer c.Close()
	r := acquire.Recipe{Client: c, Path: "/lock", Kind: lease.KindMutex}
	ctx := t.Context()
	nothing := func(context.Context) (*lease.Lease, error) { return nil, nil }
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = r.Observed(ctx, 1, 0, nothing) }))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if _, ended := kit.Of(c).HoldStarted(ctx, framework.HoldInfo{Node: "/lock/n", Token: 1}); ended != nil {
			t.Error("observed")
		}
	}))
}
