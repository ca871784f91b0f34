package lockorder

import "strings"

// Orders returns the steps that a Checker remembers, the oldest first, as "a>b" for
// "/locks/a" and "/locks/b".
func Orders(c *Checker) (all []string) {
	text := func(path string) string { return strings.TrimPrefix(path, "/locks/") }
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
