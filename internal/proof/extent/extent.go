// Package extent decides how much randomised tests do.
package extent

import (
	"os"
	"strconv"
	"testing"
)

// Slowdown is by what factor tests do less than in the long form, which ZKRECIPES_LONG
// selects. With the race detector, which is slow, there is one form only. Call it in a
// test: go test does not see a variable that is read before, and would return a cached
// result.
func Slowdown() int {
	switch {
	case Race:
		return 8
	case os.Getenv("ZKRECIPES_LONG") == "":
		return 4
	}
	return 1
}

// Amount returns a number from the environment, or else the given one.
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
