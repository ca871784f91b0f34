package main

import "fmt"

// A tally is what the instances have done in the end.
type tally struct {
	terms, jobs int
	together    int // terms beside which another began
	outside     int // jobs of a term that had ended
	unended     int // terms whose end nobody has reported
	lost        int
	refused     int
}

// count counts what is reported. A term that was lost does not count as one of several
// at once: in a process that stood still for that long, work cannot stop in time, and
// what it then does is refused.
func (b *board) count() (t tally) {
	b.Lock()
	defer b.Unlock()
	t.terms, t.outside, t.refused = len(b.terms), b.outside, b.refused
	for _, of := range b.terms {
		t.jobs += of.jobs
		switch {
		case of.over == "":
			t.unended++
		case of.over == lost:
			t.lost++
		case of.beside:
			t.together++
		}
	}
	return t
}

// String describes the tally.
func (t tally) String() string {
	return fmt.Sprintf(`%d terms, %d jobs: %d times two led at once, %d jobs were done after the end of their term
%d leases were lost, and %d late reports refused because of their tokens
`, t.terms, t.jobs, t.together, t.outside, t.lost, t.refused)
}

// check fails unless one at a time has led, and has done all work in its term.
func (t tally) check() error {
	if t.together > 0 || t.outside > 0 || t.unended > 0 {
		return fmt.Errorf("%d times two led at once, %d jobs were done after the end of their term, and %d terms did not end",
			t.together, t.outside, t.unended)
	}
	return nil
}
