//go:build race

package faultsweep

const raceDetector = true
