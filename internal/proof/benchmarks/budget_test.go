package benchmarks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// budget is how many allocations of the client a cycle of a free mutex may make. A
// change that saves some lowers it; one that needs more has to say why.
const budget = 43

// raceBudget is how many the race detector adds.
const raceBudget = 2

// TestBudgetOfFreeCycle counts what a cycle of a free mutex allocates in this process:
// the server is in another. What else goes on (garbage collection, a ping, a busy
// machine on which a hold gets as old as its first look) only adds to the count, so
// that the least of several batches is what counts, and one that is within the budget
// is enough.
func TestBudgetOfFreeCycle(t *testing.T) {
	client := connect(t)
	allowed := float64(budget)
	if extent.Race {
		allowed += raceBudget
	}
	free := made(mutex.New(client, "/locks/free"))
	for range 200 { // connections, pools and tables have grown
		cycle(t, free)
	}
	least := math.Inf(1)
	for batch := 0; batch < 20 && least > allowed; batch++ {
		least = min(least, testing.AllocsPerRun(200, func() { cycle(t, free) }))
	}
	t.Logf("%v allocations a cycle, the budget is %v", least, allowed)
	assert.LessOrEqual(t, least, allowed, "a cycle of a free mutex allocates more than its budget")
}
