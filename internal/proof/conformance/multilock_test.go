package conformance_test

import (
	"testing"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/retry"
)

// A multi-lock of one mutex is that mutex.
func TestMultiLockOfOne(t *testing.T) {
	conformance.Run(t, conformance.Recipe{
		Name: "multi-lock of one", Slots: 1, HandsOver: true, Zero: new(multilock.Lock), Foreign: latches,
		New: func(c *framework.Client, path string) lease.Acquirer {
			return must(multilock.New([]lease.Acquirer{must(mutex.New(c, path))}))
		},
	})
}

func TestMultiLock(t *testing.T) {
	conformance.Run(t, conformance.Recipe{
		Name: "multi-lock", Slots: 1, Locks: 2, Zero: new(multilock.Lock), Foreign: latches,
		New: func(c *framework.Client, path string) lease.Acquirer {
			return conformance.FirstToken{Acquirer: must(multilock.New([]lease.Acquirer{must(mutex.New(c, path)), must(mutex.New(c, path+" too"))}, multilock.WithWaitLimit(retry.Constant(time.Minute))))}
		},
	})
}
