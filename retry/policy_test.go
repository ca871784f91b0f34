package retry_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/retry"
)

func TestExponentialDelaysStayWithinJitterBoundsAndCap(t *testing.T) {
	t.Parallel()
	const (
		initial = 100 * time.Millisecond
		longest = 3 * time.Second
		draws   = 20_000
	)
	highestAverage := longest * 2 / 3

	schedule := retry.Exponential(initial, longest).Start()
	average := float64(initial)
	for range draws {
		delay, more := schedule.Next()
		require.True(t, more, "only the context ends an exponential policy")
		// Each average is rounded to a whole nanosecond, and the next is made from it.
		require.InDelta(t, average, float64(delay), average/2+10)
		require.LessOrEqual(t, delay, longest)
		average = min(average*1.5, float64(highestAverage))
	}
}

func TestExponentialJitterFillsItsRangeAlsoAtTheCap(t *testing.T) {
	t.Parallel()
	const longest = 3 * time.Second
	schedule := retry.Exponential(time.Second, longest).Start()
	for range 10 {
		schedule.Next() // climb to the top
	}

	const draws = 20_000
	low, high, atCap := time.Duration(math.MaxInt64), time.Duration(0), 0
	for range draws {
		delay, _ := schedule.Next()
		low, high = min(low, delay), max(high, delay)
		if delay == longest {
			atCap++
		}
	}
	assert.InDelta(t, time.Second, low, float64(10*time.Millisecond))
	assert.InDelta(t, longest, high, float64(10*time.Millisecond))
	assert.Less(t, atCap, draws/100, "delays must not bunch at the cap")
}

func TestExponentialWithInitialAtTheCap(t *testing.T) {
	t.Parallel()
	for range 1000 {
		schedule := retry.Exponential(time.Second, time.Second).Start()
		for range 3 {
			delay, _ := schedule.Next()
			require.LessOrEqual(t, delay, time.Second)
			require.GreaterOrEqual(t, delay, time.Second/3-time.Nanosecond)
		}
	}
}

func TestExponentialSurvivesTheLongestDuration(t *testing.T) {
	t.Parallel()
	schedule := retry.Exponential(math.MaxInt64, math.MaxInt64).Start()
	for range 1000 {
		delay, more := schedule.Next()
		require.True(t, more)
		require.Positive(t, delay)
	}
}

func TestZeroPolicyIsTheDefault(t *testing.T) {
	t.Parallel()
	var policy retry.Policy
	require.NoError(t, policy.Validate())

	schedule := policy.Start()
	first, more := schedule.Next()
	require.True(t, more)
	assert.InDelta(t, retry.DefaultInitial, first, float64(retry.DefaultInitial)/2+1)
	var longest time.Duration
	for range 1000 {
		delay, more := schedule.Next()
		require.True(t, more)
		longest = max(longest, delay)
	}
	assert.LessOrEqual(t, longest, retry.DefaultMax)
	assert.Greater(t, longest, retry.DefaultMax*8/10)
}

func TestSchedulesOfOnePolicyAreIndependent(t *testing.T) {
	t.Parallel()
	policy := retry.Exponential(time.Millisecond, time.Hour)
	grown := policy.Start()
	for range 30 {
		grown.Next()
	}
	delay, _ := policy.Start().Next()
	assert.LessOrEqual(t, delay, 2*time.Millisecond)
}

func TestPoliciesWithoutJitter(t *testing.T) {
	t.Parallel()
	constant, none := retry.Constant(time.Second).Start(), retry.None().Start()
	for range 1000 {
		delay, more := constant.Next()
		require.True(t, more)
		require.Equal(t, time.Second, delay)
		_, more = none.Next()
		require.False(t, more)
	}
}

func TestZeroScheduleHasNoDelays(t *testing.T) {
	t.Parallel()
	_, more := new(retry.Schedule).Next()
	require.False(t, more)
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, policy := range map[string]retry.Policy{
		"exponential: initial delay is 0s":                 retry.Exponential(0, time.Second),
		"exponential: longest delay 1s is less than":       retry.Exponential(time.Minute, time.Second),
		"constant: delay is 0s, must be positive":          retry.Constant(0),
		"constant: delay is -1ns, must be positive":        retry.Constant(-1),
		"exponential: initial delay is -1s, must be posit": retry.Exponential(-time.Second, time.Second),
	} {
		require.ErrorContains(t, policy.Validate(), want)
		_, more := policy.Start().Next()
		assert.False(t, more, "an invalid policy must allow no further attempt: %s", want)
	}
	for _, policy := range []retry.Policy{
		{}, retry.None(), retry.Constant(time.Second), retry.Exponential(time.Second, time.Second),
	} {
		require.NoError(t, policy.Validate())
	}
}
