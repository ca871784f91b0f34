package main

import (
	"io"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// Nothing of others reaches an output but through package quote.

// printJSON writes the answer of "ls" or "revoke" for a program, over several lines.
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
