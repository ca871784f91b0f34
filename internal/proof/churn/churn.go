// Package churn has the recipes for conformance.World.Churn, and what must add up after
// it, for tests of what observers measure. Package conformance itself knows no recipe.
package churn

import (
	"fmt"
	"math/rand/v2"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// AnyRecipe returns a recipe of any kind, at one of a few paths.
func AnyRecipe(c *framework.Client, rnd *rand.Rand) lease.Acquirer {
	at := func(name string) string { return fmt.Sprintf("/locks/%s-%d", name, rnd.IntN(2)) }
	switch rnd.IntN(8) {
	case 0:
		return must(leader.New(c, at("leader")))
	case 1:
		return must(rwlock.New(c, at("rw"))).Read()
	case 2:
		return must(rwlock.New(c, at("rw"))).Write()
	case 3:
		return must(semaphore.New(c, at("semaphore"), 3)).Weight(1 + rnd.IntN(3))
	case 4:
		return must(semaphore.New(c, at("single"), 3, semaphore.WithSingleQueue())).Weight(1 + rnd.IntN(3))
	case 5:
		return must(striped.New(c, at("stripes"), 4)).For(at("key"))
	case 6:
		return must(multilock.New([]lease.Acquirer{must(mutex.New(c, "/locks/a")), must(mutex.New(c, "/locks/b"))}))
	}
	return must(mutex.New(c, at("mutex")))
}

func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

// Totals are how many events observers were notified of.
type Totals struct {
	// Acquires and Holds are how many have started.
	Acquires, Holds int
	// Released is how many of the holds have ended without an error.
	Released int
}

// Count counts the events of a conformance.ObserverLog.
func Count(events []any) (n Totals) {
	for _, e := range events {
		switch e := e.(type) {
		case framework.AcquireInfo:
			n.Acquires++
		case framework.HoldInfo:
			n.Holds++
		case framework.HoldEnd:
			if e.Err == nil {
				n.Released++
			}
		}
	}
	return n
}
