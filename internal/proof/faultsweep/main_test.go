package faultsweep

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)   // which is faster
	debug.SetGCPercent(400) // the clients' buffers come and go; without this a third of the time goes into collecting them
	if _, ok := os.LookupEnv(shardVariable); ok && !raceDetector {
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

// slowdown is by how much less is done than in the long form, which ZKRECIPES_LONG asks
// for. The race detector makes everything so slow that with it there is one form only.
// It is asked in the tests: what is read before they begin, go test does not know of
// when it looks whether it has the result already.
func slowdown() int {
	switch {
	case raceDetector:
		return 8
	case os.Getenv("ZKRECIPES_LONG") == "":
		return 4
	}
	return 1
}

// amount is how much to do: a number from the environment, or else the given one.
func amount(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text, ok := os.LookupEnv(variable)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}
