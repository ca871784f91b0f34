package faultplan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/internal/faultplan"
)

func TestContest(t *testing.T) {
	t.Setenv("ZKRECIPES_CONTEST", "")
	t.Setenv("ZKRECIPES_SEED", "")
	span, seed := faultplan.Contest(t, 8*time.Second)
	require.Equal(t, 8*time.Second, span)
	require.Equal(t, uint64(1), seed)

	t.Setenv("ZKRECIPES_CONTEST", "10m")
	t.Setenv("ZKRECIPES_SEED", "18446744073709551615")
	span, seed = faultplan.Contest(t, 8*time.Second)
	require.Equal(t, 10*time.Minute, span)
	require.Equal(t, ^uint64(0), seed)

	t.Setenv("ZKRECIPES_SEED", "random")
	_, seed = faultplan.Contest(t, 0)
	_, other := faultplan.Contest(t, 0)
	require.NotEqual(t, seed, other)
}
