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
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// The recipes that cannot share a path. A mutex and a read-write lock can: see
// TestWritersBehindOthers.
func TestTwoRecipesOnOnePath(t *testing.T) {
	kinds := [][]conformance.RecipeKind{
		{
			{Name: "a mutex", Slots: 1, New: func(c *framework.Client, path string) lease.Acquirer { return must(mutex.New(c, path)) }},
			{Name: "a read lock", New: read},
			{Name: "a write lock", Slots: 1, New: write},
		},
		{{Name: "an election", Slots: 1, New: func(c *framework.Client, path string) lease.Acquirer { return must(leader.New(c, path)) }}},
		{
			{Name: "a stripe", Slots: 1, Keeps: true, New: func(c *framework.Client, path string) lease.Acquirer { return must(striped.New(c, path, 3)).For("key") }},
			{Name: "any stripe", Slots: 2, Keeps: true, New: func(c *framework.Client, path string) lease.Acquirer { return anyStripe{must(striped.New(c, path, 2))} }},
		},
		{{Name: "a semaphore", Slots: 2, New: func(c *framework.Client, path string) lease.Acquirer { return must(semaphore.New(c, path, 2)) }}},
		{{Name: "a single queue", Slots: 2, New: func(c *framework.Client, path string) lease.Acquirer {
			return must(semaphore.New(c, path, 2, semaphore.WithSingleQueue()))
		}}},
	}
	sized := map[int]bool{2: true, 3: true, 4: true} // of these, stripes and semaphores refuse each other's data
	for i, theirs := range kinds {
		for j, others := range kinds {
			for _, first := range theirs {
				for _, second := range others {
					if i != j && (!sized[i] || !sized[j] || first.Keeps == second.Keeps) {
						t.Run(fmt.Sprintf("%s, and then %s", first.Name, second.Name), func(t *testing.T) { conformance.RunKinds(t, first, second) })
					}
				}
			}
		}
	}
}
