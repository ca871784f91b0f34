package lockorder

import (
	"fmt"
	"strings"
)

// Orders returns the steps that a Checker remembers, the oldest first, as "a>b" for
// "/locks/a" and "/locks/b"; "a#1" is among the forks of the holder of a.
func Orders(c *Checker) (all []string) {
	text := func(p place) string {
		short := strings.TrimPrefix(p.path, "/locks/")
		if p.forks > 0 {
			return fmt.Sprintf("%s#%d", short, p.forks)
		}
		return short
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.graph.order {
		all = append(all, text(e.held)+">"+text(e.wanted))
	}
	return all
}

// Records returns how many holds a Checker has records of, and how many goroutines.
func Records(c *Checker) (holds, goroutines int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held), len(c.on)
}

// Limit sets how many steps a Checker remembers.
func Limit(c *Checker, steps int) { c.graph.limit = steps }
