//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"":             0,
		"plain-1":      7,
		"türe":         4,
		"東京":           4,
		"ひらカタ":         8,
		"ｶﾀ":           2, // halfwidth
		"Ａ１！":          6, // fullwidth
		"한국":           4,
		"한":            2, // the same from its parts
		"e\u0301":      1,
		"שלום":         4,
		"🙂🚀⌚✅":         8,
		"\U00020000":   2,
		"─│█":          3, // ambiguous
		`\u202e`:       6,
		"\u0915\u094d": 1,
	} {
		require.Equal(t, want, width(text), text)
	}
	for _, ranges := range [][][2]rune{wideRanges, joinedRanges} {
		for i, of := range ranges { // or the search finds nothing
			require.LessOrEqual(t, of[0], of[1])
			require.True(t, i == 0 || ranges[i-1][1] < of[0], "%x", of)
		}
	}
}

// The columns of any table are found by splitting lines at spaces, and by where they
// begin.
func TestColumnsStayColumns(t *testing.T) {
	long := strings.Repeat("long ", 100)
	names := []string{"plain", "the holder", "東京 バックアップ", "e\u0301e\u0301", "🙂", "", "-", hostile, long, "\xff"}
	lines := table{{"POS", "WHO", "HOST"}}
	for _, name := range names {
		lines = append(lines, []string{"1", quote.Cell(name), "here"})
	}
	text := lines.String()
	require.Less(t, len(text), 4*len(long), "one long label does not widen the other lines")
	printed := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	require.Len(t, printed, 1+len(names))
	before, _, found := strings.Cut(printed[0], "HOST")
	require.True(t, found)
	begins := width(before)
	for i, line := range printed {
		requireHarmless(t, line)
		fields := strings.Fields(line)
		require.Equal(t, lines[i], fields)
		require.Len(t, fields, 3, line)
		if before, _, ok := strings.Cut(line, "  here"); ok && width(fields[1]) <= widestColumn {
			require.Equal(t, begins, width(before)+columnGap, line)
		}
		require.NotEqual(t, ' ', line[len(line)-1], "nothing follows the last column")
	}
	require.Empty(t, table{}.String())
}
