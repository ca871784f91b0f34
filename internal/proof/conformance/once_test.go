package conformance_test

import (
	"testing"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

func TestRunOfAJob(t *testing.T) {
	conformance.Run(t, conformance.Recipe{
		Name: "run of a job", Slots: 1, Zero: new(once.Job), Foreign: latches, Below: "/a.key", Keeps: []string{"done"},
		New: func(c *framework.Client, path string) lease.Acquirer { return must(once.New(c, path)).Key("a") },
	})
}
