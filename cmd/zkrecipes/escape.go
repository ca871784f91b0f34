package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Labels, host names, node names and what servers say are written by others, and
// arguments may have been. Of all that, what would act on a terminal, forge a line of
// a log, or hide in one, is written as an escape sequence: control characters, those
// that turn the direction of writing or have no width, other spaces than the plain
// one, and bytes that are not UTF-8. Text goes through printable or cell, JSON through
// encodeJSON; nothing of others reaches an output by another way.

// printable returns text for a line: "a\nb" becomes a, backslash, n, b. A backslash
// stays as it is, so that printing what is printable changes nothing.
func printable(text string) string { return escape(text, unicode.IsPrint) }

// cell returns text for one column of a table, which has no spaces in it, since some
// who read it split it there. It is unambiguous: backslashes are doubled, and "-"
// stands for nothing only.
func cell(text string) string {
	switch text {
	case "":
		return "-"
	case "-":
		return `\x2d`
	}
	return escape(text, func(r rune) bool { return unicode.IsPrint(r) && r != ' ' && r != '\\' })
}

// escape writes all runes but those to keep as Go writes them in a string, such as
// \n, \x1b and \u202e, and a space as \x20.
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

// encodeJSON is json.MarshalIndent, or json.Marshal if there is no indent, with the
// same care. Who decodes it gets the original text.
func encodeJSON(v any, indent string) ([]byte, error) {
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

// printJSON writes the answer of "ls" or "revoke" for a program, over several lines.
func (p *program) printJSON(v any) error {
	text, err := encodeJSON(v, "  ")
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(append(text, '\n'))
	return err
}

// printLine writes one line.
func printLine(out io.Writer, text string) error {
	_, err := io.WriteString(out, printable(text)+"\n")
	return err
}
