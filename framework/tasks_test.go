package framework

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestNothingStartsOnceTasksAreWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all tasks
		end, ended := make(chan struct{}), make(chan struct{})
		require.True(t, all.start(func() { <-end }))
		require.True(t, all.start(func() { <-end }))
		go func() {
			all.wait()
			close(ended)
		}()
		synctest.Wait()
		require.False(t, all.start(func() { t.Error("started while those that run are waited for") }))
		select {
		case <-ended:
			t.Fatal("it does not wait for what runs")
		default:
		}
		close(end)
		<-ended
		require.False(t, all.start(func() { t.Error("started after the wait") }))
		all.wait()
	})
}

// What was accepted runs, and has run when the wait is over.
func TestTasksStartWhileTheyAreWaitedFor(t *testing.T) {
	t.Parallel()
	for range 50 {
		var all, starters tasks
		var accepted, ran atomic.Int64
		for range 8 {
			starters.start(func() {
				for all.start(func() { runtime.Gosched(); ran.Add(1) }) {
					accepted.Add(1)
					runtime.Gosched()
				}
			})
		}
		for accepted.Load() < 20 {
			runtime.Gosched()
		}
		all.wait()
		before := ran.Load()
		starters.wait()
		require.Equal(t, accepted.Load(), before)
	}
}
