package zktest_test

import "testing"

// Examples that need a *testing.T are run as tests.
func TestExamples(t *testing.T) {
	t.Run("Announce", announceTest)
	t.Run("Takeover", takeoverTest)
	t.Run("OrdersUnderFaults", ordersTest)
}
