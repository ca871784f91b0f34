//go:build race

package faultsweep

// slowdown is by how much less is done, because the race detector makes it slow.
const slowdown = 8
