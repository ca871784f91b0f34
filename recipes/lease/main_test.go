package lease_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// acquirer is the recipe that leases are tried on.
func acquirer(tb testing.TB, c *framework.Client) lease.Acquirer {
	tb.Helper()
	m, err := mutex.New(c, "/locks/orders", mutex.WithHolder("the test"))
	require.NoError(tb, err)
	return m
}
