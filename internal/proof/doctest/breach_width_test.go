package doctest

import (
	"strings"
	"testing"
)

func TestWidthIsHeld(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("word ", columns/len("word ")-1) + "words" // as long as a line may be
	word := strings.Repeat("w", columns+1)
	r := small(t, map[string]string{"docs/a.md": strings.Join([]string{
		full,                            // 1
		full + ".",                      // 2: too long
		"- " + full,                     // 3: too long
		"    " + full,                   // 4: too long, as it goes on with the item
		strings.Repeat("ä ", columns/2), // 5
		"# " + full,                     // 6: too long
		"| " + full + " |",              // 7: a table
		"[a]: " + word,                  // 8: one word
		"- " + word,                     // 9: the same
		"a " + word,                     // 10: too long, as the word could begin a line
		"",
		"    " + full, // 12: an indented block
		"",
		"    " + full, // 14: the same
		"```text",
		full + " " + full, // 16: a block
		"```",
		full + ".", // 18: too long
	}, "\n")})
	expect(t, checkWidth, r, "docs/a.md", 10,
		"docs/a.md:2: the line has 121 columns", "docs/a.md:3: the line has 122 columns",
		"docs/a.md:4: the line has 124 columns", "docs/a.md:6: the line has 122 columns",
		"docs/a.md:10: the line has 123 columns", "docs/a.md:18: the line has 121 columns")
}
