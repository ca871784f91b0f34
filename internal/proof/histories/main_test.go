package histories

import (
	"runtime"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)   // one is faster, and repeats more often
	debug.SetGCPercent(400) // collect the clients' buffers less often
	goleak.VerifyTestMain(m)
}
