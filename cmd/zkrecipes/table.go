package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// A table is lines of cells; see quote.Cell. Package text/tabwriter takes every rune
// for one column wide, so Chinese names or emoji would misalign what follows them.
type table [][]string

const (
	columnGap = 2
	// Wider cells are not aligned with: one long label must not make all lines long.
	widestColumn = 60
	// Columns are not shortened to less: what is left has to tell clients apart.
	leastColumn = 6
	// cutMark ends a cell that is shortened. It is one column wide.
	cutMark = "…"
)

// String lays the table out: cells are separated by spaces, and begin at the same
// column of a terminal in each line.
func (t table) String() string { return t.layOut(nil) }

// layOut is String with another text for some cells, as wide as the cell: the same in a
// colour. nil leaves all as they are.
func (t table) layOut(paint func(head, cell string) string) string {
	columns := t.columns(widestColumn)
	var out strings.Builder
	for at, line := range t {
		for i, text := range line {
			if paint != nil && at > 0 {
				out.WriteString(paint(t[0][i], text))
			} else {
				out.WriteString(text)
			}
			if i < len(line)-1 {
				out.WriteString(strings.Repeat(" ", max(columns[i]-width(text), 0)+columnGap))
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// columns returns how wide each column is. Cells wider than the limit do not count.
func (t table) columns(limit int) (columns []int) {
	for _, line := range t {
		for i, text := range line {
			if i == len(columns) {
				columns = append(columns, 0)
			}
			if w := width(text); w <= limit {
				columns[i] = max(columns[i], w)
			}
		}
	}
	return columns
}

// fit shortens the cells of some columns, which are named by their heads, until no line
// is wider than that, or all of these columns are as narrow as may be.
func (t table) fit(widest int, shortened ...string) {
	columns := t.columns(math.MaxInt)
	excess := (len(columns)-1)*columnGap - widest
	for _, w := range columns {
		excess += w
	}
	for ; excess > 0; excess-- {
		most := -1
		for i, head := range t[0] {
			if slices.Contains(shortened, head) && columns[i] > leastColumn && (most < 0 || columns[i] > columns[most]) {
				most = i
			}
		}
		if most < 0 {
			break
		}
		columns[most]--
	}
	for _, line := range t {
		for i := range line {
			if t[0][i] == "PATH" {
				line[i] = shortenPath(line[i], columns[i])
			} else {
				line[i] = shorten(line[i], columns[i])
			}
		}
	}
}

// shorten cuts printable text that is wider than that, and marks the cut.
func shorten(text string, widest int) string {
	if width(text) <= widest {
		return text
	}
	left := widest - width(cutMark)
	for at, r := range text {
		if left -= width(string(r)); left < 0 {
			return text[:at] + cutMark
		}
	}
	return text
}

// shortenPath is shorten for a path: its end tells more than its beginning.
func shortenPath(path string, widest int) string {
	if width(path) <= widest {
		return path
	}
	rest := []rune(path)
	for len(rest) > 0 && width(string(rest)) > widest-width(cutMark) {
		rest = rest[1:]
	}
	return cutMark + string(rest)
}

// width returns how many columns a terminal gives to printable text: none to marks
// above or below a letter, two to wide characters, one to all others. Terminals differ
// only for characters of "ambiguous" width (here 1) and for emoji that are made of
// several characters (here the sum).
func width(text string) int {
	sum := 0
	for _, r := range text {
		switch {
		case r < 0x300: // nearly always
			sum++
		case unicode.In(r, unicode.Mn, unicode.Me), among(joinedRanges, r):
		case among(wideRanges, r):
			sum += 2
		default:
			sum++
		}
	}
	return sum
}

// among reports whether a rune lies in one of some ranges, which are in order.
func among(ranges [][2]rune, r rune) bool {
	i, _ := slices.BinarySearchFunc(ranges, r, func(of [2]rune, r rune) int { return cmp.Compare(of[1], r) })
	return i < len(ranges) && ranges[i][0] <= r // the first range that does not end before r
}

// wideRanges are the characters that Unicode's Standard Annex 11 calls wide or
// fullwidth: those of Chinese, Japanese and Korean, and emoji. Code points between that
// are not assigned are never printable.
var wideRanges = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0},
	{0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267f, 0x267f},
	{0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5},
	{0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5},
	{0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728},
	{0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
	{0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55},
	{0x2e80, 0x303e}, {0x3041, 0x3247}, {0x3250, 0x4dbf}, {0x4e00, 0xa4c6}, {0xa960, 0xa97c},
	{0xac00, 0xd7a3}, {0xf900, 0xfad9}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6b}, {0xff01, 0xff60},
	{0xffe0, 0xffe6}, {0x16fe0, 0x1b2fb}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e},
	{0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393},
	{0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e},
	{0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567},
	{0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5},
	{0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc},
	{0x1f7e0, 0x1f7f0}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff},
	{0x20000, 0x3fffd},
}

// joinedRanges are the vowels and final consonants of Korean that join the character
// before them.
var joinedRanges = [][2]rune{{0x1160, 0x11ff}, {0xd7b0, 0xd7fb}}
