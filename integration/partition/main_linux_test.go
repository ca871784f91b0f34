package partition

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// limit is how long an expected event may take, on a busy machine as well.
const limit = 4 * time.Minute

// TestMain runs the contender, or the process that is killed, instead of the tests if
// this binary was started as one of them.
func TestMain(m *testing.M) {
	flag.Parse()
	if plan := os.Getenv(contenderEnv); plan != "" {
		os.Exit(contend(plan))
	}
	if os.Getenv(victimEnv) != "" {
		fmt.Fprintln(os.Stderr, beVictim())
		os.Exit(1)
	}
	if os.Getenv(insideEnv) != "" {
		if err := moveIn(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	// The tests wait most of the time: more of them fit than there are processors.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// within returns a context for one step of a test.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
