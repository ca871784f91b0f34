package main

import (
	"io"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// All text of other clients goes through package quote before it is written.

// printJSON writes the result of "ls" or "revoke" as indented JSON.
func (p *program) printJSON(v any) error {
	text, err := quote.JSON(v, "  ")
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(append(text, '\n'))
	return err
}

// printLine writes one line.
func printLine(out io.Writer, text string) error {
	_, err := io.WriteString(out, quote.Line(text)+"\n")
	return err
}
