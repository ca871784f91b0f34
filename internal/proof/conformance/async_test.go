package conformance_test

import (
	"testing"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

// All that holds with Release holds with ReleaseAsync.
func TestAsyncReleases(t *testing.T) {
	for _, r := range []conformance.Recipe{
		{Name: "mutex", Slots: 1, HandsOver: true, Zero: new(mutex.Mutex), New: func(c *framework.Client, path string) lease.Acquirer {
			return must(mutex.New(c, path))
		}},
		{Name: "read lock", Zero: new(rwlock.Lock), New: read, Block: write, Shares: shares},
	} {
		t.Run(r.Name, func(t *testing.T) { conformance.Run(t, conformance.Async(r)) })
	}
}
