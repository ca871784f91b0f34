package faultsweep

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)   // which is faster
	debug.SetGCPercent(400) // the clients' buffers come and go; without this a third of the time goes into collecting them
	if _, ok := os.LookupEnv(shardVariable); ok && !extent.Race {
		runtime.MemProfileRate = 0
		startWithLargeStacks()
		debug.SetGCPercent(-1)
	}
	goleak.VerifyTestMain(m)
}

// startWithLargeStacks makes the runtime give new goroutines stacks of 8 KiB instead of
// 2, which most of a client's and a server's goroutines need, so that they do not have
// to be copied twice as they grow. The runtime chooses the size in each collection, as
// the mean of what it finds in use.
func startWithLargeStacks() {
	const many = 500
	done := make(chan struct{})
	var ready, over sync.WaitGroup
	ready.Add(many)
	for range many {
		over.Go(func() {
			var used [5 << 10]byte
			ready.Done()
			<-done
			runtime.KeepAlive(&used)
		})
	}
	ready.Wait()
	runtime.GC()
	close(done)
	over.Wait()
}
