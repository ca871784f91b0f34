package conformance_test

import (
	"fmt"
	"testing"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// The recipes that cannot share a path. A mutex and a read-write lock can: see
// TestWritersBehindOthers.
func TestNeighbours(t *testing.T) {
	must := func(a lease.Acquirer, err error) lease.Acquirer {
		if err != nil {
			panic(err)
		}
		return a
	}
	kinds := [][]conformance.Neighbour{
		{
			{Name: "a mutex", Places: 1, New: func(c *framework.Client, path string) lease.Acquirer { return must(mutex.New(c, path)) }},
			{Name: "a read lock", New: read},
			{Name: "a write lock", Places: 1, New: write},
		},
		{{Name: "an election", Places: 1, New: func(c *framework.Client, path string) lease.Acquirer { return must(leader.New(c, path)) }}},
		{{Name: "a semaphore", Places: 2, New: func(c *framework.Client, path string) lease.Acquirer { return must(semaphore.New(c, path, 2)) }}},
		{{Name: "a single queue", Places: 2, New: func(c *framework.Client, path string) lease.Acquirer {
			return must(semaphore.New(c, path, 2, semaphore.WithSingleQueue()))
		}}},
	}
	for i, theirs := range kinds {
		for j, others := range kinds {
			for _, there := range theirs {
				for _, comes := range others {
					if i != j {
						t.Run(fmt.Sprintf("%s, and then %s", there.Name, comes.Name), func(t *testing.T) { conformance.RunNeighbours(t, there, comes) })
					}
				}
			}
		}
	}
}
