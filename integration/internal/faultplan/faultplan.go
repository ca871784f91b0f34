// Package faultplan tells tests with random faults for how long there are faults, and
// with which seed.
package faultplan

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Contest returns for how long contenders meet faults, and the seed of the faults. The
// environment variables ZKRECIPES_CONTEST, such as 10m, and ZKRECIPES_SEED, a number or
// "random", come before the given time and seed 1. The log says what a run had.
func Contest(t *testing.T, otherwise time.Duration) (span time.Duration, seed uint64) {
	t.Helper()
	span, seed = otherwise, 1
	var err error
	if text := os.Getenv("ZKRECIPES_CONTEST"); text != "" {
		span, err = time.ParseDuration(text)
		require.NoError(t, err, "ZKRECIPES_CONTEST")
	}
	switch text := os.Getenv("ZKRECIPES_SEED"); text {
	case "":
	case "random":
		seed = rand.Uint64()
	default:
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, "ZKRECIPES_SEED")
	}
	t.Logf("%v, ZKRECIPES_SEED=%d", span, seed)
	return span, seed
}
