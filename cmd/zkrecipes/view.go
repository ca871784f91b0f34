package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// A watchLine is one line of "ls --watch --json".
type watchLine struct {
	Time    time.Time  `json:"time"`            // of the look, or when it was noticed that none was answered
	Silent  *time.Time `json:"no_answer_since"` // nil if this is an answer
	Listing *listing   `json:"listing"`         // nil if there was no answer: what is true is not known
}

// viewer returns what shows a watch: it draws on a terminal, and prints to all else
// what has changed.
func (p *program) viewer(f *lsFlags, path string, as format) (show func(s sight) error, end func()) {
	on := p.pageOf()
	if as != asJSON && on.draws {
		v := &screen{out: p.stdout, page: p.pageOf}
		v.text = func(s sight, on page) string {
			title := fmt.Sprintf("%s, every %v, last look %s\n", quote.Line(path), f.interval.value, s.last.at.Format(time.TimeOnly))
			return title + s.banner(on) + "\n" + s.last.listing.text(as, on)
		}
		v.begin()
		return v.show, v.end
	}
	before := ""
	return func(s sight) error {
		line := watchLine{Time: s.last.at.UTC(), Listing: s.last.listing}
		if s.silent {
			at := s.last.at.UTC()
			line = watchLine{Time: s.now.UTC(), Silent: &at}
		}
		now, err := line.withoutTimes()
		if err != nil || now == before {
			return err
		}
		before = now
		if as == asJSON {
			return p.writeJSON(line, "")
		}
		_, err = io.WriteString(p.stdout, line.block(s, as, on))
		return err
	}, func() {}
}

// withoutTimes returns what has to differ for a line to be printed: ages always do.
func (w watchLine) withoutTimes() (string, error) {
	state := stateFree
	w.Time = time.Time{}
	if w.Listing != nil {
		l := *w.Listing
		state, l.Queue = l.state(), append([]queueEntry{}, l.Queue...)
		for i := range l.Queue {
			l.Queue[i].Age = 0
		}
		w.Listing = &l
	}
	text, err := json.Marshal(w)
	return string(text) + string(state), err
}

// block describes it for a person.
func (w watchLine) block(s sight, as format, on page) string {
	at := w.Time.Format(time.RFC3339) + "\n"
	if w.Listing == nil {
		return at + s.banner(on) + "\n"
	}
	return at + w.Listing.text(as, on) + "\n"
}

// banner says that what was seen may not be true any more; "" if it is.
func (s sight) banner(on page) string {
	if !s.silent {
		return ""
	}
	text := "no answer since " + s.last.at.UTC().Format(time.RFC3339)
	if on.columns > 0 {
		text = fmt.Sprintf("no answer since %s (%s): what follows was true then",
			s.last.at.Format(time.TimeOnly), s.now.Sub(s.last.at).Round(time.Second))
	}
	text = on.paint(red, text) + "\n"
	if s.because != nil {
		text += quote.Line(errorText(s.because)) + "\n"
	}
	return text
}

// A screen is drawn on again and again. It is another one than that of the shell, which
// is shown again at the end.
type screen struct {
	out  io.Writer
	page func() page // as large as it is now
	text func(s sight, on page) string
}

const (
	otherScreen = "\x1b[?1049h\x1b[?25l" // and no cursor
	shellScreen = "\x1b[?25h\x1b[?1049l"
	cleared     = "\x1b[H\x1b[J" // and at its top
)

func (v *screen) begin() { _, _ = io.WriteString(v.out, otherScreen) }

func (v *screen) end() { _, _ = io.WriteString(v.out, shellScreen) }

// show draws all of it with one write, so that it does not flicker.
func (v *screen) show(s sight) error {
	on := v.page()
	lines := on.firstRows(strings.Split(strings.TrimSuffix(v.text(s, on), "\n"), "\n"))
	_, err := io.WriteString(v.out, cleared+strings.Join(lines, "\n"))
	return err
}

// firstRows returns the lines that a terminal has rows for, long ones taking several. A
// line says how many more there are: else the first ones would be scrolled away.
func (g page) firstRows(lines []string) []string {
	left := g.rows
	for i, line := range lines {
		left -= max(1, (width(withoutColours(line))+g.columns-1)/g.columns)
		if last := i == len(lines)-1; left < 0 || left == 0 && !last {
			return append(lines[:i:i], fmt.Sprintf("and %d more lines: make the window larger", len(lines)-i))
		}
	}
	return lines
}

// withoutColours returns what is seen of a text. Only what paint has made is in it:
// texts of others are quoted.
func withoutColours(text string) string {
	var seen strings.Builder
	for {
		before, rest, found := strings.Cut(text, sequenceBegin)
		seen.WriteString(before)
		if !found {
			return seen.String()
		}
		_, text, _ = strings.Cut(rest, "m")
	}
}
