package main

import "github.com/zkrecipes/zkrecipes/inspect"

// A colour is the parameter of the sequence of a terminal that begins it.
type colour string

const (
	green  colour = "32" // held
	yellow colour = "33" // waiting
	red    colour = "31" // closed, revoked, no answer
)

const (
	sequenceBegin = "\x1b["
	colourEnd     = "\x1b[0m"
)

// paint colours text, if the page has colours. A colour only repeats what the text
// says: it is not seen by all, and not in a file.
func (g page) paint(c colour, text string) string {
	if !g.colour || c == "" {
		return text
	}
	return sequenceBegin + string(c) + "m" + text + colourEnd
}

// colourOf returns that of a state.
func colourOf(s inspect.State) colour {
	switch s {
	case inspect.Held:
		return green
	case inspect.Waiting:
		return yellow
	}
	return ""
}
