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
	runtime.GOMAXPROCS(1)   // one is faster
	debug.SetGCPercent(400) // else a third of the time goes into collecting the clients' buffers
	if _, ok := os.LookupEnv(shardVariable); ok && !extent.Race {
		runtime.MemProfileRate = 0
		startWithLargeStacks()
		debug.SetGCPercent(-1)
	}
	goleak.VerifyTestMain(m)
}

// startWithLargeStacks makes the runtime start goroutines with stacks of 8 KiB, which
// most goroutines of a client and a server need, instead of 2, so that no stack is
// copied as it grows. The runtime chooses that size in each collection, as the mean of
// the stacks in use.
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
