package znode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesOfStripes(t *testing.T) {
	t.Parallel()
	for i, name := range map[int]string{0: "stripe-0000", 1023: "stripe-1023"} {
		require.Equal(t, name, StripeDir(i))
		n, ok := ParseStripeDir(name)
		require.True(t, ok, name)
		require.Equal(t, i, n)
	}
	for _, name := range []string{"", "0001", "stripe-", "stripe-1", "stripe-00001", "stripe--001", "stripe-000x", "x-stripe-0001", "stripe-9999999999", "stripe-1024"} {
		_, ok := ParseStripeDir(name)
		require.False(t, ok, "%q", name)
	}
}
