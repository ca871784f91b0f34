package labels

import (
	"fmt"
	stdpath "path"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework"
)

// Other is the label of paths that match no template.
const Other = "other"

// anyBelow at the end of a template stands for one further element or more.
const anyBelow = "/**"

// Paths returns a function that labels a path with the first template that matches it,
// as it was given, or with [Other]. So there are never more labels than templates, and
// one.
//
// A template is a path, as observers are told it: with chroot and namespace. In it *
// stands for any characters but /, ? for one of them, and [a-z] for one of some, as in
// [path.Match]. A template that ends with /** matches all paths below: "/locks/**"
// matches "/locks/a" and "/locks/a/b", but not "/locks".
//
// It returns a framework.ErrInvalidArgument for a template that does not begin with /,
// or is not well formed.
func Paths(templates ...string) (func(path string) string, error) {
	matchers := make([]func(path string) bool, len(templates))
	for i, template := range templates {
		matches, err := matcherOf(template)
		if err != nil {
			return nil, err
		}
		matchers[i] = matches
	}
	return func(path string) string {
		for i, matches := range matchers {
			if matches(path) {
				return templates[i]
			}
		}
		return Other
	}, nil
}

func matcherOf(template string) (func(path string) bool, error) {
	if _, err := stdpath.Match(template, ""); err != nil || !strings.HasPrefix(template, "/") {
		return nil, fmt.Errorf("%w: path template %q: it must begin with /, and be as package path matches", framework.ErrInvalidArgument, template)
	}
	above, below := strings.CutSuffix(template, anyBelow)
	elements := strings.Count(above, "/")
	return func(path string) bool {
		if below {
			path = cutAfter(path, elements)
		}
		matched, _ := stdpath.Match(above, path)
		return matched
	}, nil
}

// cutAfter returns the first elements of a path that has more. Otherwise it returns "",
// which no template matches that has elements.
func cutAfter(path string, elements int) string {
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if elements == 0 {
			return path[:i]
		}
		elements--
	}
	return ""
}
