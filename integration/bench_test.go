package integration

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// The benchmarks compare a mutex with its least possible cost on the same server. They
// measure both alternately in one run, since machines are noisy: read the ratio. The
// server is warmed up first, because a JVM's first seconds are slow.

// warmUp is for how long to warm a server up: the JVM compiles what it does often. With
// -short the benchmarks are only tried, and their figures mean nothing.
func warmUp() time.Duration {
	if testing.Short() {
		return 0
	}
	return 4 * time.Second
}

// benchOptions are those of a server. With -short it does not wait for the disk, which
// may take longer than a session timeout on a busy machine.
func benchOptions(fullSpeed bool) ensemble.Options {
	return ensemble.Options{FullSpeed: fullSpeed, NoSync: testing.Short()}
}

// benchServer starts a server and warms it up.
func benchServer(b *testing.B) *framework.Client {
	b.Helper()
	servers := ensemble.New(b, benchOptions(false))
	client := connect(b, servers.Servers()[0])
	require.NoError(b, client.CreateParents(context.Background(), "/raw/x"))
	m := benchMutex(b, client, "/locks/warm-up")
	for start := time.Now(); time.Since(start) < warmUp(); {
		rawPair(b, client)
		cycle(b, m)
	}
	return client
}

func benchMutex(b *testing.B, client *framework.Client, path string) *mutex.Mutex {
	b.Helper()
	m, err := mutex.New(client, path)
	require.NoError(b, err)
	return m
}

// rawPair creates and deletes an ephemeral sequential node, which every lock has to do.
func rawPair(b *testing.B, client *framework.Client) {
	ctx := context.Background()
	made, err := client.Create(ctx, "/raw/x", nil, framework.EphemeralSequential)
	if err == nil {
		err = client.Delete(ctx, made.Path, framework.AnyVersion)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// cycle acquires and releases what is free.
func cycle(b *testing.B, a lease.Acquirer) {
	held, err := a.Acquire(context.Background(), time.Minute)
	if err == nil {
		err = held.Release()
	}
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFree compares acquire and release of a free mutex with the raw pair on the
// same connection. "%of-raw" is the rate relative to the pair's.
func BenchmarkFree(b *testing.B) {
	client := benchServer(b)
	m := benchMutex(b, client, "/locks/free")
	var raw, lock time.Duration
	for b.Loop() {
		start := time.Now()
		rawPair(b, client)
		middle := time.Now()
		cycle(b, m)
		raw += middle.Sub(start)
		lock += time.Since(middle)
	}
	report(b, raw, lock)
}

func report(b *testing.B, raw, lock time.Duration) {
	b.ReportMetric(float64(raw.Nanoseconds())/float64(b.N), "raw-ns/op")
	b.ReportMetric(float64(lock.Nanoseconds())/float64(b.N), "mutex-ns/op")
	b.ReportMetric(100*float64(raw)/float64(lock), "%of-raw")
}

// BenchmarkHandOver compares the hand-overs of a mutex between two, or sixteen,
// goroutines with their least possible cost: a watch that fires for a delete, after
// which the next node is deleted.
func BenchmarkHandOver(b *testing.B) {
	for _, contenders := range []int{2, 16} {
		b.Run(map[int]string{2: "contenders=2", 16: "contenders=16"}[contenders], func(b *testing.B) {
			client := benchServer(b)
			m := benchMutex(b, client, "/locks/handed")
			const turns = 256
			var raw, lock time.Duration
			for b.Loop() {
				raw += chain(b, client, turns)
				lock += passOn(b, m, contenders, turns)
			}
			b.ReportMetric(float64(raw.Nanoseconds())/float64(b.N*turns), "raw-ns/turn")
			b.ReportMetric(float64(lock.Nanoseconds())/float64(b.N*turns), "mutex-ns/turn")
			b.ReportMetric(100*float64(raw)/float64(lock), "%of-raw")
		})
	}
}

// passOn lets goroutines take the mutex in turns and returns the time for all.
func passOn(b *testing.B, m *mutex.Mutex, contenders, turns int) time.Duration {
	var group sync.WaitGroup
	start := time.Now()
	for range contenders {
		group.Go(func() {
			for range turns / contenders {
				held, err := m.Acquire(context.Background(), lease.Forever)
				if err == nil {
					err = held.Release()
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	return time.Since(start)
}

// chain makes nodes with a watch on each, and deletes the first, whose event makes the
// second be deleted, and so on. Only the deleting is timed; a mutex also has to create
// its nodes meanwhile.
func chain(b *testing.B, client *framework.Client, length int) time.Duration {
	ctx := context.Background()
	paths := make([]string, length)
	watches := make([]*framework.Watch, length)
	for i := range paths {
		made, err := client.Create(ctx, "/raw/x", nil, framework.EphemeralSequential)
		if err != nil {
			b.Fatal(err)
		}
		_, _, w, err := client.GetWatch(ctx, made.Path)
		if err != nil {
			b.Fatal(err)
		}
		paths[i], watches[i] = made.Path, w
	}
	start := time.Now()
	for i, path := range paths {
		if err := client.Delete(ctx, path, framework.AnyVersion); err != nil {
			b.Fatal(err)
		}
		<-watches[i].Events()
	}
	return time.Since(start)
}
