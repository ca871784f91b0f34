package queue_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	conformance.PolicyTrial{
		Policy: queue.Exclusive,
		Next:   func(*rand.Rand) znode.Name { return znode.Name{Kind: znode.Latch} },
		Fits:   func(admitted []znode.Name) bool { return len(admitted) <= 1 },
	}.Run(t)
}

// One release wakes one waiter.
func TestExclusiveWaitsForTheNearest(t *testing.T) {
	t.Parallel()
	names := []znode.Name{{Node: "a"}, {Node: "b"}, {Node: "c"}}
	require.Empty(t, queue.Exclusive(names[0], queue.Before(nil)))
	require.Equal(t, names[:1], queue.Exclusive(names[1], queue.Before(names[:1])))
	require.Equal(t, names[1:2], queue.Exclusive(names[2], queue.Before(names[:2])))
}
