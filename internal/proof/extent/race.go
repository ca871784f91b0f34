//go:build race

package extent

// Race tells whether the race detector is on.
const Race = true
