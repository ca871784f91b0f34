package histories

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)   // which is faster, and repeats more often
	debug.SetGCPercent(400) // the clients' buffers come and go
	goleak.VerifyTestMain(m)
}

// slowdown is by how much less is done than in the long form, which ZKRECIPES_LONG asks
// for. The race detector makes everything so slow that with it there is one form only.
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
