package doctest

import (
	"regexp"
	"strings"
)

// shellComment matches the beginning of a comment.
var shellComment = regexp.MustCompile(`(?:^|\s)#`)

// checkComments checks that the commands which users paste have no comments: zsh, the
// shell of macOS, takes # for a word when it is typed, and runs what stands behind it.
// Who works on the project is spared that.
func checkComments(_ *repository, p Page) (found []Problem, seen int) {
	if strings.HasPrefix(p.Path, "bench/") || p.Path == "CONTRIBUTING.md" || p.Path == "docs/performance.md" {
		return nil, 0
	}
	for _, b := range p.Blocks {
		if b.Info != "sh" {
			continue
		}
		seen++
		for i, line := range strings.Split(b.Text, "\n") {
			if shellComment.MatchString(line) {
				found = append(found, Problem{p.Path, b.Line + i, "zsh would take the comment for arguments", "say it in the text"})
			}
		}
	}
	return found, seen
}
