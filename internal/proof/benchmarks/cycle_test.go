package benchmarks

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

func BenchmarkFreeMutex(b *testing.B) {
	m := made(mutex.New(connect(b), "/locks/free"))
	contend(b, 1, m)
}

// BenchmarkOwnPaths has a path for each goroutine, so that none waits.
func BenchmarkOwnPaths(b *testing.B) {
	for _, goroutines := range []int{16, 128} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			client, all := connect(b), make([]lease.Acquirer, goroutines)
			for i := range all {
				all[i] = made(mutex.New(client, fmt.Sprintf("/locks/%d", i)))
			}
			contend(b, goroutines, all...)
		})
	}
}

func BenchmarkOnePath(b *testing.B) {
	for _, goroutines := range []int{2, 16, 128} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			contend(b, goroutines, made(mutex.New(connect(b), "/locks/one")))
		})
	}
}

// BenchmarkSemaphore has 10 permits.
func BenchmarkSemaphore(b *testing.B) {
	for _, layout := range []struct {
		name    string
		options []semaphore.Option
	}{{"two-queues", nil}, {"single-queue", []semaphore.Option{semaphore.WithSingleQueue()}}} {
		for _, goroutines := range []int{1, 64} {
			b.Run(fmt.Sprintf("layout=%s/goroutines=%d", layout.name, goroutines), func(b *testing.B) {
				contend(b, goroutines, made(semaphore.New(connect(b), "/locks/permits", 10, layout.options...)))
			})
		}
	}
}

// BenchmarkReadWrite has one writer for 19 readers.
func BenchmarkReadWrite(b *testing.B) {
	l, err := rwlock.New(connect(b), "/locks/shared")
	if err != nil {
		b.Fatal(err)
	}
	all := []lease.Acquirer{l.Write()}
	for len(all) < 20 {
		all = append(all, l.Read())
	}
	contend(b, 32, all...)
}

// contend lets goroutines acquire and release in turn what is given, b.N times in all.
func contend(b *testing.B, goroutines int, all ...lease.Acquirer) {
	var turn atomic.Int64
	for _, a := range all {
		cycle(b, a)
	}
	b.ReportAllocs()
	b.ResetTimer()
	var group sync.WaitGroup
	for range goroutines {
		group.Go(func() {
			for n := turn.Add(1); n <= int64(b.N); n = turn.Add(1) {
				cycle(b, all[n%int64(len(all))])
			}
		})
	}
	group.Wait()
}
