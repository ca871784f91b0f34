package doctest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// columns is how long a line may be. CONTRIBUTING.md says so, too.
const columns = 120

// oneWord matches a line that cannot be broken: a word, such as a link, alone in its
// line or item, or the definition of a reference.
var oneWord = regexp.MustCompile(`^ *(?:(?:[-*+]|\d+[.)]|\[[^]]+\]:) +)?\S+$`)

// checkWidth checks that text wraps: all but tables and blocks, indented ones included.
func checkWidth(_ *repository, p Page) (found []Problem, seen int) {
	indented := true // the line is of an indented block, or blank; without these none begins
	for i, line := range p.Lines {
		indented = strings.TrimSpace(line.Text) == "" || indented && strings.HasPrefix(line.Text, "    ")
		if indented || line.Block || strings.HasPrefix(line.Text, "|") {
			continue
		}
		seen++
		if n := utf8.RuneCountInString(line.Text); n > columns && !oneWord.MatchString(line.Text) {
			found = append(found, Problem{p.Path, i + 1, fmt.Sprintf("the line has %d columns", n), fmt.Sprintf("wrap it at %d", columns)})
		}
	}
	return found, seen
}
