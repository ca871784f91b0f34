package conformance_test

import (
	"testing"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func TestLeader(t *testing.T) {
	conformance.Run(t, conformance.Recipe{
		Name:      "leader",
		Slots:     1,
		HandsOver: true,
		Foreign:   map[string][]string{"": {"x-lock-0000000000"}},
		Zero:      new(leader.Election),
		New:       func(c *framework.Client, path string) lease.Acquirer { return must(leader.New(c, path)) },
	})
}
