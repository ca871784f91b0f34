package framework_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Without a listener that waits a release is a plain delete.
func TestReleaseThatNobodyWaitsFor(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		k := kit.Of(p.In(p.Session()))
		var told atomic.Int32
		_, err := p.Create(t.Context(), "/queue/a", nil, framework.Ephemeral)
		require.NoError(t, err)
		stop := k.OnDeleted(p.Session(), "/queue", listener{deleted: func(string) { told.Add(1) }})
		defer stop()
		p.server.On(zktest.OpDelete, "").Delay(time.Second)
		done := make(chan error, 1)
		go func() { done <- k.Release(context.Background(), "/queue/a") }()
		synctest.Wait()
		require.NoError(t, k.AwaitReleased(t.Context(), "/queue"))
		require.Zero(t, told.Load())
		require.NoError(t, <-done)
		require.EqualValues(t, 1, told.Load())
	})
}

// A release that deletes a watched node is answered behind the event, and that is no
// news.
func TestReleaseTellsOfADeletionOnce(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		_, _, _, err := r.GetWatch(t.Context(), "/queue/a")
		require.NoError(t, err)
		require.NoError(t, r.Release(t.Context(), "/queue/a"))
		require.Equal(t, 1, strings.Count(r.heard(), "deleted a"))
		require.True(t, r.confirmed(t))
	})
}
