// Package extent is how much the tests do that can do any amount.
package extent

import (
	"os"
	"strconv"
	"testing"
)

// Slowdown is by how much less is done than in the long form, which ZKRECIPES_LONG asks
// for. The race detector makes everything so slow that with it there is one form only.
// It is to be asked in a test: what is read before they begin, go test does not know of
// when it looks whether it has the result already.
func Slowdown() int {
	switch {
	case Race:
		return 8
	case os.Getenv("ZKRECIPES_LONG") == "":
		return 4
	}
	return 1
}

// Amount is how much to do: a number from the environment, or else the given one.
func Amount(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text, ok := os.LookupEnv(variable)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}
