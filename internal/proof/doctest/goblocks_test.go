package doctest

import "strings"

// ofNestedModule reports whether the Go blocks of a page are compiled by the test of a
// nested module, whose packages they use.
func ofNestedModule(p Page) bool {
	for _, dir := range []string{"contrib/", "integration/"} {
		if strings.HasPrefix(p.Path, dir) {
			return true
		}
	}
	return false
}
