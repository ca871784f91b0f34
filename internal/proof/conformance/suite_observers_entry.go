package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
)

func observesReEntry(t *testing.T, w *World, r Recipe) {
	if r.NotReentrant {
		return
	}
	events := w.observed("a", func(c *framework.Client) {
		outer := w.Acquire(r.New(c, path))
		inner := w.StartWith(outer.Context(), r.New(c, path), 0).Granted()
		first := w.fork(r, c, outer, time.Minute)
		second := w.fork(r, c, outer, time.Minute)
		release(t, inner)
		pass(time.Second)
		release(t, first.Granted())
		release(t, second.Granted(), outer)
	})
	var starts, holds, entries int
	for _, e := range events {
		switch e := e.(type) {
		case framework.AcquireInfo:
			starts++
		case framework.HoldInfo:
			holds++
		case framework.AcquireEnd:
			require.NoError(t, e.Err)
			require.Zero(t, e.HandOver)
			if e.Reentered {
				require.Equal(t, -1, e.Ahead)
				entries++
			}
		}
	}
	require.Equal(t, []int{4, 3, 1}, []int{starts, entries, holds})
	require.IsType(t, framework.HoldEnd{}, events[len(events)-1], "the hold goes on until its last lease is released")
}
