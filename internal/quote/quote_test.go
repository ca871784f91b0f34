package quote_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// hostile is a label that would clear a screen, forge lines in every possible way,
// change the direction of writing and hide in a log.
const hostile = "x\n2026-11-21 19:00:00 INFO paid\r\x1b[2J\x07\x7f\u0085\u009b31m\u2028\u2029\u202e\u2066\u200f\u061c\u200b\u00ad\ufeff\u3000\U000e0041y"

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"tür 東京 שלום é 🙂":       "tür 東京 שלום é 🙂",
		"tür \x1b[31mred\x07":   `tür \x1b[31mred\a`,
		"a\nb\r\tc\x00":         `a\nb\r\tc\x00`,
		"\u0085\u009b":          `\u0085\u009b`, // next line, and what begins an escape sequence in one byte
		"a\u202eb\u2066\u200f":  `a\u202eb\u2066\u200f`,
		"a\u200bb\u00a0\ufeff":  `a\u200bb\u00a0\ufeff`,
		"\U000e0041\U0010ffff":  `\U000e0041\U0010ffff`,
		"\xff\xc3(\xed\xa0\x80": `\xff\xc3(\xed\xa0\x80`, // no UTF-8
		`C:\backup`:             `C:\backup`,
	} {
		require.Equal(t, want, quote.Line(text))
		require.Equal(t, want, quote.Line(want), "printable text stays")
	}
}

func TestLongTextIsCut(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("a", 256):       strings.Repeat("a", 256),
		strings.Repeat("a", 257):       strings.Repeat("a", 241) + "... (257 bytes)",
		strings.Repeat("\n", 128):      strings.Repeat(`\n`, 128),
		strings.Repeat("\n", 129):      strings.Repeat(`\n`, 120) + `\... (129 bytes)`,
		strings.Repeat("é", 500<<10):   strings.Repeat("é", 118) + "... (1024000 bytes)",
		strings.Repeat("東", 90):        strings.Repeat("東", 80) + "... (270 bytes)",
		strings.Repeat("x", 255) + "東": strings.Repeat("x", 241) + "... (258 bytes)",
	} {
		require.Equal(t, want, quote.Brief(text))
	}
	require.Len(t, quote.Path(strings.Repeat("/a", 4000)), 1024)
	require.Equal(t, `"0010"`, quote.Excerpt([]byte("0010")))
	require.Equal(t, `"\x00\x1b[2J\n"`, quote.Excerpt([]byte("\x00\x1b[2J\n")))
	require.Equal(t, `"0123456789abcdef"... (17 bytes)`, quote.Excerpt([]byte("0123456789abcdefg")))
}

func TestCells(t *testing.T) {
	for text, want := range map[string]string{
		"":             "-",
		"-":            `\x2d`,
		"--":           "--",
		"nightly":      "nightly",
		"the holder":   `the\x20holder`,
		`a\x20b`:       `a\\x20b`,
		"a\tb\u3000c":  `a\tb\u3000c`,
		"café 東京":      `café\x20東京`,
		"\xff":         `\xff`,
		"a\u00a0b\n\n": `a\u00a0b\n\n`,
	} {
		require.Equal(t, want, quote.Cell(text))
	}
}

func TestJSONIsEscaped(t *testing.T) {
	text, err := quote.JSON([]string{"ü\u202e", "\x7f\u009b\U000e0041 東京", "\n"}, "")
	require.NoError(t, err)
	require.Equal(t, `["ü\u202e","\u007f\u009b\udb40\udc41 東京","\n"]`, string(text))
	text, err = quote.JSON([]string{"a\nb"}, "  ")
	require.NoError(t, err)
	require.Equal(t, "[\n  \"a\\nb\"\n]", string(text))
	_, err = quote.JSON(func() {}, "")
	require.Error(t, err)
}

// requireHarmless fails if a text contains anything that a terminal would act on, or
// that would show as another line.
func requireHarmless(t *testing.T, text string) {
	t.Helper()
	require.True(t, utf8.ValidString(text), "%q", text)
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		require.Fail(t, "not harmless", "%q at %d of %q", text[i], i, text)
	}
}

// checkEscapes checks all that the package promises for one text.
func checkEscapes(t *testing.T, text string) {
	t.Helper()
	requireHarmless(t, quote.Line(text))
	requireHarmless(t, quote.Excerpt([]byte(text)))
	for short, limit := range map[string]int{quote.Brief(text): 256, quote.Path(text): 1024} {
		requireHarmless(t, short)
		require.LessOrEqual(t, len(short), limit)
		require.Equal(t, short, quote.Line(short))
	}
	require.Equal(t, quote.Brief(text), quote.Brief(quote.Brief(text)), "once cut, and no more")

	c := quote.Cell(text)
	requireHarmless(t, c)
	require.Equal(t, []string{c}, strings.Fields(c), "one column")
	if text != "" { // and nothing is lost in it
		back, err := strconv.Unquote(`"` + strings.ReplaceAll(c, `"`, `\"`) + `"`)
		require.NoError(t, err)
		require.Equal(t, text, back)
	}

	valid := strings.ToValidUTF8(text, "\ufffd") // which is all that JSON can carry
	for indent, lineEnds := range map[string]int{"": 0, "  ": 2} {
		b, err := quote.JSON([]string{valid}, indent)
		require.NoError(t, err)
		requireHarmless(t, strings.ReplaceAll(string(b), "\n", ""))
		require.Equal(t, lineEnds, strings.Count(string(b), "\n"), "only the line ends of the indentation")
		var back []string
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, []string{valid}, back)
	}
}

func TestEscapesOfEveryRune(t *testing.T) {
	checkEscapes(t, hostile)
	for first := rune(0); first <= unicode.MaxRune; first += 256 {
		var text strings.Builder
		for r := first; r < first+256; r++ {
			text.WriteRune(r)
		}
		checkEscapes(t, text.String())
	}
}

func TestEscapesOfAnyBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{hostile, `\`, `\x1b`, `"`, " ", "\n", "\x9b", "\xed\xa0\x80", "\xf4\x90\x80\x80", "東", "e\u0301", "\U0001f642", "<&>"}
	for range 2000 {
		var text strings.Builder
		for range random.IntN(8) {
			if random.IntN(2) == 0 {
				text.WriteByte(byte(random.Uint32()))
			} else {
				text.WriteString(pieces[random.IntN(len(pieces))])
			}
		}
		checkEscapes(t, text.String())
	}
}

func FuzzEscapes(f *testing.F) {
	f.Add(hostile)
	f.Add("a\xff\\ \u202e")
	f.Fuzz(checkEscapes)
}
