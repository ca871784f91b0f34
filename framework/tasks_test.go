package framework

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// waiting returns how many goroutines wait for a task.
func (t *tasks) waiting() int { return len(t.idle) }

func newTasks() *tasks { return &tasks{idle: make(chan *worker, idleTasks)} }

func TestTasksUseTheirGoroutinesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := newTasks()
		defer all.wait()
		ran := 0
		for range 100 {
			require.True(t, all.start(func() { ran++ }))
			synctest.Wait()
			require.Equal(t, 1, all.waiting())
		}
		require.Equal(t, 100, ran)

		// Those that work are not given more.
		end := make(chan struct{})
		for range 3 {
			require.True(t, all.start(func() { <-end }))
		}
		synctest.Wait()
		require.Zero(t, all.waiting())
		close(end)
		synctest.Wait()
		require.Equal(t, 3, all.waiting())
	})
}

func TestGoroutinesThatAreNotNeededEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := newTasks()
		defer all.wait()
		run := func(n int) {
			end, ran := make(chan struct{}), new(atomic.Int64)
			for range n {
				require.True(t, all.start(func() { <-end; ran.Add(1) }))
			}
			synctest.Wait()
			close(end)
			synctest.Wait()
			require.EqualValues(t, n, ran.Load(), "no task is lost")
		}
		run(10)
		all.trim()
		require.Equal(t, 10, all.waiting(), "all were needed before that")
		run(4)
		run(2)
		all.trim()
		synctest.Wait()
		require.Equal(t, 4, all.waiting(), "as many as were needed at once since")
		run(7)
		require.Equal(t, 7, all.waiting())
		all.trim()
		all.trim()
		require.Zero(t, all.waiting())
		run(1)
	})
}

func TestNothingStartsOnceTasksAreWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := newTasks()
		end, ended := make(chan struct{}), make(chan struct{})
		require.True(t, all.start(func() {}))
		synctest.Wait() // its goroutine is idle
		require.True(t, all.start(func() { <-end }))
		require.True(t, all.start(func() { <-end }))
		go func() {
			all.wait()
			close(ended)
		}()
		synctest.Wait()
		require.False(t, all.start(func() { t.Error("started while those that run are waited for") }))
		all.trim()
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
		all := newTasks()
		var accepted, ran atomic.Int64
		var starters tasks
		for range 8 {
			starters.start(func() {
				for all.start(func() { runtime.Gosched(); ran.Add(1) }) {
					accepted.Add(1)
					all.trim()
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
		assert.Zero(t, all.waiting())
	}
}
