package main

import (
	"flag"
	"fmt"
	"io"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// All text of other clients goes through package quote before it is written.

// A format is how a listing is printed.
type format string

const (
	asTable format = "table"
	asWide  format = "wide" // a table with all columns
	asJSON  format = "json"
)

// parseFormat reads the name of one.
func parseFormat(text string) (format, error) {
	switch f := format(text); f {
	case asTable, asWide, asJSON:
		return f, nil
	}
	return "", fmt.Errorf("is none of %s, %s, %s", asTable, asWide, asJSON)
}

// An output is what --output and --json say, which is another name for one of its
// values.
type output struct {
	chosen option[format]
	json   bool
}

func (o *output) register(fs *flag.FlagSet) {
	fs.Func("output", "", o.chosen.set(parseFormat))
	fs.BoolVar(&o.json, "json", false, "")
}

// format returns what was chosen, or an error if that contradicts itself.
func (o *output) format(verb string) (format, error) {
	switch {
	case !o.json && !o.chosen.given:
		return asTable, nil
	case !o.json:
		return o.chosen.value, nil
	case o.chosen.given && o.chosen.value != asJSON:
		return "", usageErrorf("%s: --json and --output %s contradict each other", verb, o.chosen.value)
	}
	return asJSON, nil
}

// printJSON writes what a verb has found as indented JSON.
func (p *program) printJSON(v any) error { return p.writeJSON(v, "  ") }

// writeJSON is printJSON with another indent. Without any it writes one line.
func (p *program) writeJSON(v any, indent string) error {
	text, err := quote.JSON(v, indent)
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
