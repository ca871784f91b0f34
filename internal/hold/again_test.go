package hold_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/hold"
)

// Of many waiters that begin together, each looks about once per session timeout, and
// no two milliseconds of all of them are crowded.
func TestSecondLooksAreSpread(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		const many = 2000
		var looks atomic.Int64
		for i := range many {
			_, stop := hold.LookAgain(t.Context(), p.Session(), fmt.Sprintf("/lock/_c_%08d-n-%010d", i*7919, i), func(context.Context) bool {
				looks.Add(1)
				return true
			})
			t.Cleanup(stop)
		}
		time.Sleep(timeout*3/4 - time.Millisecond)
		require.Zero(t, looks.Load())
		for slot := range 10 {
			before := looks.Load()
			time.Sleep(timeout / 20)
			synctest.Wait()
			require.InDelta(t, many/10, looks.Load()-before, many/20, "slot %d", slot)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		require.EqualValues(t, many, looks.Load(), "each has looked once")
		time.Sleep(4 * timeout)
		synctest.Wait()
		require.InDelta(t, 5*many, looks.Load(), many/2)
	})
}

func TestSecondLooksEnd(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		looks := 0
		_, stop := hold.LookAgain(t.Context(), p.Session(), "x", func(context.Context) bool {
			looks++
			return looks < 3
		})
		time.Sleep(10 * timeout)
		synctest.Wait()
		require.Equal(t, 3, looks, "when there is nothing more to look for")
		stop()

		began, ended := make(chan struct{}), false
		_, stop = hold.LookAgain(t.Context(), p.Session(), "x", func(ctx context.Context) bool {
			close(began)
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return true
		})
		<-began
		stop()
		require.True(t, ended, "stop waits for a look")
		stop()

		_, stop = hold.LookAgain(t.Context(), p.Session(), "x", func(context.Context) bool { panic("looks after the end") })
		stop()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, stop = hold.LookAgain(ctx, p.Session(), "x", func(context.Context) bool { panic("looks after the end") })
		time.Sleep(10 * timeout)
		stop()
	})
}
