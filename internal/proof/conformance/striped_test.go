package conformance_test

import (
	"context"
	"testing"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

func TestStripe(t *testing.T) {
	conformance.Run(t, conformance.Recipe{
		Name: "stripe", Slots: 1, HandsOver: true, Zero: new(striped.Locks), Foreign: latches, Below: "/stripe-0001",
		New: func(c *framework.Client, path string) lease.Acquirer { return must(striped.New(c, path, 8)).For("key") },
	})
}

func TestAnyOfOneStripe(t *testing.T) {
	conformance.Run(t, conformance.Recipe{
		Name: "any stripe", Slots: 1, HandsOver: true, Zero: new(striped.Locks), Foreign: latches, Below: "/stripe-0000", Spread: true,
		New: func(c *framework.Client, path string) lease.Acquirer { return anyStripe{must(striped.New(c, path, 1))} },
	})
}

func TestAnyOfThreeStripes(t *testing.T) {
	conformance.Run(t, conformance.Recipe{
		Name: "any stripe", Slots: 3, Zero: new(striped.Locks), Foreign: latches, Spread: true, NotReentrant: true,
		New: func(c *framework.Client, path string) lease.Acquirer { return anyStripe{must(striped.New(c, path, 3))} },
	})
}

type anyStripe struct{ *striped.Locks }

func (a anyStripe) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	held, _, err := a.AcquireAny(ctx, timeout)
	return held, err
}
