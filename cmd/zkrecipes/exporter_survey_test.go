//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// surveying runs a test in virtual time, with surveys that take a second each.
func surveying(t *testing.T, test func(t *testing.T, s *surveys, begun, atATime *atomic.Int32)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var begun, atATime atomic.Int32
		ctx, end := context.WithCancel(t.Context())
		s := &surveys{ctx: ctx, take: func(ctx context.Context) (string, error) {
			n := begun.Add(1)
			atATime.Add(1)
			defer atATime.Add(-1)
			select {
			case <-time.After(time.Second):
				return fmt.Sprint(n), nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}}
		test(t, s, &begun, &atATime)
		end()
		s.running.Wait()
		require.Nil(t, s.now)
		require.Zero(t, atATime.Load())
	})
}

// Those that come at the same time share one, the next one gets a new one.
func TestScrapesShareASurvey(t *testing.T) {
	surveying(t, func(t *testing.T, s *surveys, begun, _ *atomic.Int32) {
		for round := range 3 {
			var scrapes sync.WaitGroup
			for i := range 50 {
				scrapes.Go(func() {
					time.Sleep(time.Duration(i) * 19 * time.Millisecond)
					text, err := s.get(t.Context())
					require.NoError(t, err)
					require.Equal(t, fmt.Sprint(round+1), text)
				})
			}
			scrapes.Wait()
			require.EqualValues(t, round+1, begun.Load())
		}
	})
}

// A survey ends when the last one that waits for it has left, and not earlier.
func TestSurveyEndsWithItsScrapes(t *testing.T) {
	surveying(t, func(t *testing.T, s *surveys, begun, atATime *atomic.Int32) {
		first, leave := context.WithCancel(t.Context())
		second, leaveToo := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		for _, ctx := range []context.Context{first, second} {
			go func() { _, err := s.get(ctx); errs <- err }()
		}
		synctest.Wait()
		require.EqualValues(t, 1, begun.Load())
		leave()
		require.ErrorIs(t, <-errs, context.Canceled)
		synctest.Wait()
		require.EqualValues(t, 1, atATime.Load(), "one still waits for it")
		leaveToo()
		require.ErrorIs(t, <-errs, context.Canceled)
		synctest.Wait()
		require.Zero(t, atATime.Load())
		text, err := s.get(t.Context())
		require.NoError(t, err, "a canceled one is not joined")
		require.Equal(t, "2", text)
	})
}

// A canceled survey that does not end at once is not joined, and does no harm to the
// next one.
func TestSurveyThatIsCanceledLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int32
		late := make(chan struct{})
		s := &surveys{ctx: t.Context(), take: func(context.Context) (string, error) {
			if begun.Add(1) == 1 {
				<-late
				return "", errors.New("of the first one")
			}
			time.Sleep(time.Second)
			return "", nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := s.get(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var next sync.WaitGroup
		for i := range 2 {
			next.Go(func() {
				time.Sleep(time.Duration(i) * 700 * time.Millisecond)
				_, err := s.get(t.Context())
				require.NoError(t, err)
			})
		}
		time.Sleep(time.Second / 2)
		close(late)
		next.Wait()
		require.EqualValues(t, 2, begun.Load())
		s.running.Wait()
	})
}

// One that has ended is not joined, although somebody has not left it yet.
func TestSurveyThatHasEnded(t *testing.T) {
	surveying(t, func(t *testing.T, s *surveys, begun, _ *atomic.Int32) {
		v := s.join()
		<-v.done
		text, err := s.get(t.Context())
		require.NoError(t, err)
		require.Equal(t, "2", text)
		s.leave(v)
		require.EqualValues(t, 2, begun.Load())
	})
}

func TestScrapeLimit(t *testing.T) {
	const longest = 15 * time.Second
	for header, want := range map[string]time.Duration{
		"": longest, "x": longest, "0": longest, "-1": longest, "NaN": longest, "Inf": longest, "1e300": longest, "15.5": longest, "16": longest,
		"10": 9500 * time.Millisecond, "10.000000": 9500 * time.Millisecond, "15": 14500 * time.Millisecond,
		"1": 500 * time.Millisecond, "0.5": 250 * time.Millisecond, "0.1": 50 * time.Millisecond,
	} {
		require.Equal(t, want, scrapeLimit(header, longest), header)
	}
}
