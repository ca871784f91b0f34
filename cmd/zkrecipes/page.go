package main

import "cmp"

// A page is what text for a person is printed on. The zero value is a file: nothing is
// coloured, and nothing shortened.
type page struct {
	columns, rows int // of a terminal; 0: without end
	colour, draws bool
}

// The size of a terminal that does not know its own.
const (
	usualColumns = 80
	usualRows    = 24
)

// pageOf returns what standard output is. A terminal that is said to be dumb, or not
// said to be any, prints text and does nothing else.
func (p *program) pageOf() page {
	columns, rows, terminal := windowOf(p.stdout)
	if !terminal {
		return page{}
	}
	name := p.env.get("TERM")
	able := name != "" && name != "dumb"
	return page{
		columns: cmp.Or(columns, usualColumns), rows: cmp.Or(rows, usualRows),
		colour: able && p.env.get("NO_COLOR") == "", draws: able,
	}
}
