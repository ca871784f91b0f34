// Package quote makes foreign text safe to show on a terminal and in a log.
//
// Labels, host names, node names and the texts of servers come from other parties, and
// so may arguments. Characters that could control a terminal, or forge or hide lines of
// a log, are written as escape sequences: control characters, characters that change
// the direction of writing or have no width, all spaces but the plain one, and bytes
// that are not UTF-8. This is for texts only. Values that programs read, such as the
// fields of an error, stay unchanged.
//
// Error texts and the log of the library use [Brief], [Path] and [Excerpt], which also
// cut long texts. The command prints with [Line] or [Cell], and JSON with [JSON].
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

// The limits of quoted texts in bytes; longer texts are cut.
const (
	maxBrief   = 256
	maxPath    = 1024
	maxExcerpt = 64
)

// Line quotes text for one line: a line feed becomes \n. A backslash stays as it is, so
// quoting a quoted text changes nothing.
func Line(text string) string { return escape(text, unicode.IsPrint) }

// Brief is Line for a label or a name; it cuts a long one.
func Brief(text string) string { return cut(text, maxBrief) }

// Path is Line for a path or a message; it cuts one that is longer than any sensible
// one.
func Path(text string) string { return cut(text, maxPath) }

// Excerpt returns data in quotation marks, or its beginning and its length if it is
// long.
func Excerpt(data []byte) string {
	const room = maxExcerpt / 4 // a byte takes four at most
	if len(data) <= room {
		return strconv.Quote(string(data))
	}
	return fmt.Sprintf("%q... (%d bytes)", data[:room], len(data))
}

// cut is Line, with a mark in place of what exceeds limit.
func cut(text string, limit int) string {
	// Escaping makes no text shorter, so only this part can be needed.
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

// Cell quotes text for one column of a table. The result has no spaces, since some
// readers split columns at them, and it is unambiguous: backslashes are doubled, and
// "-" stands only for the empty text.
func Cell(text string) string {
	switch text {
	case "":
		return "-"
	case "-":
		return `\x2d`
	}
	return escape(text, func(r rune) bool { return unicode.IsPrint(r) && r != ' ' && r != '\\' })
}

// escape writes all runes except those to keep as in a Go string, such as \n, \x1b and
// \u202e, and a space as \x20.
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

// JSON is json.MarshalIndent, or json.Marshal if indent is empty, with unprintable
// characters escaped. Decoding gives the original text.
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

// escapeJSON writes unprintable characters in valid JSON as \uXXXX. Outside of strings
// only the line ends of an indented text are unprintable, and strings contain no line
// ends.
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
