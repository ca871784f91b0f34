package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// tabulateFault writes the table of one fault.
func tabulateFault(out io.Writer, f fault, some []system, trials map[string][]trial, session time.Duration, rounds int) error {
	const overlap = "next holder after\t(least..most)\told one writes until\t(least..most)\ttwo at once for\t(least..most)"
	heads := map[fault]string{
		killed:   "next holder after\t(least..most)",
		cutOff:   overlap + "\tlearns it",
		frozen:   "next holder after\t(least..most)\tlearns it after waking\t(least..most)\tlate writes\t(least..most)",
		failover: overlap,
	}
	fmt.Fprintf(out, "%s: session timeout or expiry %v, %d rounds; medians, and the least and the most of all rounds\n\n", f, session, rounds)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "system\t"+heads[f])
	for _, s := range some {
		fmt.Fprintln(table, s.name+"\t"+strings.Join(faultCells(f, trials[s.name]), "\t"))
	}
	fmt.Fprintln(table)
	return table.Flush()
}

// faultCells are the line of one system.
func faultCells(f fault, trials []trial) []string {
	var next, last, both, knew, late []float64
	var never, goesOn, lateOn, waited, failed int
	var err error
	for _, t := range trials {
		if t.err != nil {
			failed, err = failed+1, t.err
			continue
		}
		if t.next == 0 {
			never++
		} else {
			next = append(next, between(t.fault, t.next))
			if t.knew != 0 {
				late = append(late, float64(t.late))
			} else {
				lateOn++
			}
		}
		switch {
		case f == killed:
		case t.knew == 0:
			goesOn++
		case f == frozen:
			knew = append(knew, between(t.back, t.knew)*1000)
		default:
			if t.knew > t.back { // it may have stood still, in a call to the server
				waited++
			}
			last = append(last, max(0, between(t.fault, t.last)))
			if t.next != 0 {
				both = append(both, between(t.next, t.last))
			}
		}
	}
	cells := orElse(spread("%.3f s", next), never, "not meanwhile")
	switch f {
	case cutOff, failover:
		cells = append(cells, orElse(spread("%.2f s", last), goesOn, "goes on")...)
		cells = append(cells, orElse(spread("%+.2f s", both), goesOn, "for ever")...)
		if f == cutOff {
			cells = append(cells, learns(len(trials)-failed, waited, goesOn))
		}
	case frozen:
		cells = append(cells, orElse(spread("%.1f ms", knew), goesOn, "never")...)
		cells = append(cells, orElse(spread("%.0f", late), lateOn, "goes on")...)
	}
	if failed > 0 {
		cells = append(cells, fmt.Sprintf("%d rounds failed: %v", failed, err))
	}
	return cells
}

// orElse adds in how many rounds there was no number.
func orElse(cells []string, n int, what string) []string {
	switch {
	case n > 0 && cells[0] == "-":
		cells[0] = what
	case n > 0:
		cells[1] += fmt.Sprintf(" %s in %d", what, n)
	}
	return cells
}

// learns tells when those who were cut off knew.
func learns(rounds, waited, goesOn int) string {
	switch {
	case goesOn == rounds:
		return "never"
	case waited == 0 && goesOn == 0:
		return "while cut off"
	case waited == rounds:
		return "when the network is back"
	}
	return fmt.Sprintf("while cut off in %d, later in %d, never in %d", rounds-waited-goesOn, waited, goesOn)
}
