//go:build !race

package faultsweep

const slowdown = 1
