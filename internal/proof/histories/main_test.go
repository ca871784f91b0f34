package histories

import (
	"runtime"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)   // which is faster, and repeats more often
	debug.SetGCPercent(400) // the clients' buffers come and go
	goleak.VerifyTestMain(m)
}
