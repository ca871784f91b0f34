//go:build race

package histories

const raceDetector = true
