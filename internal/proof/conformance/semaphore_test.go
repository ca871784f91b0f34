package conformance_test

import (
	"slices"
	"testing"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

func TestSemaphore(t *testing.T) {
	layouts := map[string][]semaphore.Option{"in Curator's layout": nil, "with a single queue": {semaphore.WithSingleQueue()}}
	for layout, opts := range layouts {
		for _, size := range []struct {
			permits, each int
			adopts        bool
		}{{3, 1, false}, {1, 1, false}, {7, 3, false}, {3, 1, true}} {
			r := conformance.Recipe{Name: "semaphore", Zero: new(semaphore.Semaphore), Slots: size.permits / size.each, NotReentrant: true}
			r.New = func(c *framework.Client, path string) lease.Acquirer {
				if size.adopts {
					return must(semaphore.New(c, path, size.permits, append(slices.Clip(opts), semaphore.WithStoredSize())...))
				}
				return must(semaphore.New(c, path, size.permits, opts...)).Weight(size.each)
			}
			if opts == nil {
				r.Nodes = size.each
				r.Foreign = map[string][]string{"": {"lock-0000000000"}, "/leases": {"lock-0000000000"}, "/locks": {"lease-0000000000"}}
			}
			t.Run(layout, func(t *testing.T) { conformance.Run(t, r) })
		}
	}
}
