package zkprom_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

func TestAHoldFromItsAcquireToItsRelease(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		lock, err := mutex.New(w.measured("a"), path)
		require.NoError(t, err)
		held, err := lock.Acquire(t.Context(), time.Minute)
		require.NoError(t, err)
		assert.Equal(t, map[string]float64{`path="/locks/*",recipe="mutex"`: 1}, w.values("zkrecipes_holds"))
		w.After(3 * time.Second)
		require.NoError(t, held.Release())
		assert.Equal(t, map[string]float64{`path="/locks/*",recipe="mutex"`: 0}, w.values("zkrecipes_holds"))
		assert.Equal(t, map[string]float64{`path="/locks/*",recipe="mutex"`: 3}, w.values("zkrecipes_hold_seconds_sum"))
	}, "/locks/*")
}
