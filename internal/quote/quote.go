// Package quote writes text of others so that it does no harm where it is shown.
//
// Labels, host names, node names and what servers say are written by others, and
// arguments may have been. Of all that, what would act on a terminal, forge a line of a
// log, or hide in one, is written as an escape sequence: control characters, those that
// turn the direction of writing or have no width, other spaces than the plain one, and
// bytes that are not UTF-8. It is for texts only. What programs read, such as the
// fields of an error, stays as it was.
//
// The texts of errors and the log of the library go through [Brief], [Path] and
// [Excerpt], which also cut what is too long; what the command prints through [Line] or
// [Cell], and JSON through [JSON].
package quote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What is longer is cut, in bytes of what is written.
const (
	maxBrief   = 256
	maxPath    = 1024
	maxExcerpt = 64
)

// Line returns text for a line: "a\nb" becomes a, backslash, n, b. A backslash stays as
// it is, so that quoting what is quoted changes nothing.
func Line(text string) string { return escape(text, unicode.IsPrint) }

// Brief is Line for a label or a name, cut where it is too long for a message.
func Brief(text string) string { return cut(text, maxBrief) }

// Path is Line for a path, or a message, cut where no sensible one ends.
func Path(text string) string { return cut(text, maxPath) }

// Excerpt returns the beginning of data, in quotation marks, and how long it is if that
// is not all.
func Excerpt(data []byte) string {
	const room = maxExcerpt / 4 // a byte takes four at most
	if len(data) <= room {
		return strconv.Quote(string(data))
	}
	return fmt.Sprintf("%q... (%d bytes)", data[:room], len(data))
}

// cut is Line, with a mark in place of what would make it longer than limit.
func cut(text string, limit int) string {
	// Nothing is shorter when it is escaped, so what lies behind need not be.
	head := Line(text[:min(len(text), limit)])
	if len(text) <= limit && len(head) <= limit {
		return head
	}
	mark := fmt.Sprintf("... (%d bytes)", len(text))
	end := limit - len(mark)
	for !utf8.RuneStart(head[end]) {
		end--
	}
	return head[:end] + mark
}

// Cell returns text for one column of a table, which has no spaces in it, since some
// who read it split it there. It is unambiguous: backslashes are doubled, and "-"
// stands for nothing only.
func Cell(text string) string {
	switch text {
	case "":
		return "-"
	case "-":
		return `\x2d`
	}
	return escape(text, func(r rune) bool { return unicode.IsPrint(r) && r != ' ' && r != '\\' })
}

// escape writes all runes but those to keep as Go writes them in a string, such as \n,
// \x1b and \u202e, and a space as \x20.
func escape(text string, keep func(rune) bool) string {
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[0])
		case keep(r):
			out.WriteString(text[:size])
		case r == ' ':
			out.WriteString(`\x20`)
		default:
			quoted := strconv.QuoteRune(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return out.String()
}

// JSON is json.MarshalIndent, or json.Marshal if there is no indent, with the same
// care. Who decodes it gets the original text.
func JSON(v any, indent string) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if indent != "" {
		var wrapped bytes.Buffer
		if err := json.Indent(&wrapped, text, "", indent); err != nil {
			return nil, err
		}
		text = wrapped.Bytes()
	}
	return escapeJSON(text), nil
}

// escapeJSON writes in valid JSON what is not printable as \uXXXX. Outside of strings
// there is nothing of that but the line ends of an indented text, and in strings there
// are no line ends.
func escapeJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case unicode.IsPrint(r), r == '\n':
			out = append(out, text[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}
