//go:build !race

package histories

const slowdown = 1
