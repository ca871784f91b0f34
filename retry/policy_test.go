package retry_test

import (
	"math"
	"testing"
	"testing/synctest"
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
	schedule := retry.Exponential(time.Second, time.Second).Start()
	for range 1000 {
		schedule.Reset() // it is the first delay that starts from initial
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

func TestResetBeginsAnew(t *testing.T) {
	t.Parallel()
	grown := retry.Exponential(time.Millisecond, time.Hour).Start()
	for range 30 {
		grown.Next()
	}
	grown.Reset()
	delay, _ := grown.Next()
	assert.LessOrEqual(t, delay, 2*time.Millisecond)

	counted := retry.Fixed(1, time.Second).Start()
	counted.Next()
	_, more := counted.Next()
	assert.False(t, more)
	counted.Reset()
	_, more = counted.Next()
	assert.True(t, more)
}

func TestSchedulesOfOnePolicyAreIndependent(t *testing.T) {
	t.Parallel()
	policy := retry.Fixed(1, time.Second)
	first, second := policy.Start(), policy.Start()
	first.Next()
	_, more := first.Next()
	assert.False(t, more)
	_, more = second.Next()
	assert.True(t, more)
}

func TestFixedAndNoneCountTheirAttempts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy retry.Policy
		want   int
	}{
		"fixed 3": {retry.Fixed(3, time.Second), 3},
		"fixed 0": {retry.Fixed(0, time.Second), 0},
		"none":    {retry.None(), 0},
	} {
		schedule, got := tc.policy.Start(), 0
		for delay, more := schedule.Next(); more; delay, more = schedule.Next() {
			assert.Equal(t, time.Second, delay, name)
			got++
			require.Less(t, got, 100, name)
		}
		assert.Equal(t, tc.want, got, name)
		_, more := schedule.Next()
		assert.False(t, more, "%s: an ended policy must stay ended", name)
	}
}

func TestUntilElapsedNeverPassesItsLimit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limit, delay, work time.Duration
		want               int // further attempts
	}{
		"limit a multiple of the delay": {10 * time.Second, 2 * time.Second, 0, 5},
		"limit between two delays":      {9 * time.Second, 2 * time.Second, 0, 4},
		"the attempts take time too":    {10 * time.Second, 2 * time.Second, 3 * time.Second, 2},
		"delay longer than limit":       {time.Second, 2 * time.Second, 0, 0},
		"no time at all":                {0, time.Second, 0, 0},
		"time below zero":               {-time.Minute, time.Second, 0, 0},
		"longest durations":             {math.MaxInt64, math.MaxInt64, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, got := time.Now(), 0
				schedule := retry.UntilElapsed(tc.limit, tc.delay).Start()
				for {
					require.NoError(t, retry.Sleep(t.Context(), tc.work)) // the attempt
					delay, more := schedule.Next()
					if !more {
						break
					}
					require.NoError(t, retry.Sleep(t.Context(), delay))
					require.LessOrEqual(t, time.Since(began), tc.limit, "an attempt began too late")
					got++
				}
				assert.Equal(t, tc.want, got)
			})
		})
	}
}

func TestUntilElapsedCountsFromResetAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		schedule := retry.UntilElapsed(3*time.Second, 2*time.Second).Start()
		require.NoError(t, retry.Sleep(t.Context(), 2*time.Second))
		_, more := schedule.Next()
		assert.False(t, more)
		schedule.Reset()
		_, more = schedule.Next()
		assert.True(t, more)
	})
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, policy := range map[string]retry.Policy{
		"exponential: initial delay is 0s":                 retry.Exponential(0, time.Second),
		"exponential: longest delay 1s is less than":       retry.Exponential(time.Minute, time.Second),
		"fixed: number of further attempts is -1":          retry.Fixed(-1, time.Second),
		"fixed: delay is -1s, must not be negative":        retry.Fixed(1, -time.Second),
		"until elapsed: delay is 0s, must be positive":     retry.UntilElapsed(time.Minute, 0),
		"forever: delay is 0s, must be positive":           retry.Forever(0),
		"forever: delay is -1ns, must be positive":         retry.Forever(-1),
		"exponential: initial delay is -1s, must be posit": retry.Exponential(-time.Second, time.Second),
	} {
		require.ErrorContains(t, policy.Validate(), want)
		_, more := policy.Start().Next()
		assert.False(t, more, "an invalid policy must allow no further attempt: %s", want)
	}
	for _, policy := range []retry.Policy{
		{}, retry.None(), retry.Fixed(0, 0), retry.Forever(time.Second),
		retry.Exponential(time.Second, time.Second), retry.UntilElapsed(-1, time.Second),
	} {
		require.NoError(t, policy.Validate())
	}
}

func TestVerdictsHaveNames(t *testing.T) {
	t.Parallel()
	for want, verdict := range map[string]retry.Verdict{
		"done": retry.Done, "again": retry.Again, "unknown": retry.Unknown, "fatal": retry.Fatal, "Verdict(0)": 0,
	} {
		assert.Equal(t, want, verdict.String())
	}
}
