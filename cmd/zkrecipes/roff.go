package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A roff writes the text of a help in the macros of man(7). The layout of a help says
// what its lines are:
//
//	Heading:                       followed by what is indented below it
//	a paragraph                    not indented; or indented below a heading
//	  term      its text           a list; the term may have a line of its own, the text
//	            is indented more, and a list may be in between
//	  - text                       likewise
//	  other lines, or a table      as they are
//	Examples:                      in which what is indented more is as it is
type roff struct {
	out    strings.Builder
	within string // the heading below which the lines are, "" if there is none
	inset  bool   // what is below the heading is indented
}

// macro writes a line of macros.
func (r *roff) macro(format string, args ...any) { fmt.Fprintf(&r.out, format+"\n", args...) }

// escapes are for characters that roff would take for commands or print as others.
var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

func escape(text string) string {
	text = escapes.Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// text writes lines of text.
func (r *roff) text(lines string) {
	for line := range strings.SplitSeq(lines, "\n") {
		r.macro("%s", escape(strings.TrimSpace(line)))
	}
}

// verbatim writes lines as they are, but for what all are indented by.
func (r *roff) verbatim(lines []string) {
	least := indent(lines[0])
	for _, line := range lines {
		least = min(least, indent(line))
	}
	r.macro(".PP\n.RS 4\n.EX")
	for _, line := range lines {
		r.macro("%s", escape(line[least:]))
	}
	r.macro(".EE\n.RE")
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// take returns the first lines for which a condition holds, and the rest.
func take(lines []string, is func(line string) bool) (first, rest []string) {
	n := 0
	for n < len(lines) && is(lines[n]) {
		n++
	}
	return lines[:n], lines[n:]
}

// body writes the lines of a help below its usage.
func (r *roff) body(lines []string) {
	afterBlank := true
	for len(lines) > 0 {
		var block []string
		switch first := lines[0]; {
		case first == "":
			lines, afterBlank = lines[1:], true
			continue
		case indent(first) > 0:
			block, lines = take(lines, func(line string) bool { return indent(line) > 0 })
			r.indented(block)
		case afterBlank && strings.HasSuffix(first, ":") && len(lines) > 1 && indent(lines[1]) > 0:
			r.heading(strings.TrimSuffix(first, ":"))
			lines = lines[1:]
		default:
			block, lines = take(lines, func(line string) bool { return line != "" && indent(line) == 0 })
			title, text, _ := strings.Cut(block[0], ": ")
			if slices.Contains(sections, title) {
				r.heading(title)
				block[0] = text
			} else {
				r.leave()
				r.macro(".PP")
			}
			r.text(strings.Join(block, "\n"))
		}
		afterBlank = false
	}
	r.leave()
}

const examples = "Examples"

// sections are headings of the help that begin a section of the page.
var sections = []string{"Exit codes", "Events of --json", examples}

func (r *roff) heading(text string) {
	r.leave()
	r.within = text
	if slices.Contains(sections, text) {
		r.macro(".SH %s", escape(strings.ToUpper(text)))
		return
	}
	r.macro(".PP\n\\fB%s\\fP\n.RS 2", escape(text+":"))
	r.inset = true
}

// leave ends what is below a heading.
func (r *roff) leave() {
	if r.inset {
		r.macro(".RE")
	}
	r.within, r.inset = "", false
}

// gap separates two columns.
var gap = regexp.MustCompile(`\S(  +)`)

const bullet = "- "

// indented writes lines that are all indented.
func (r *roff) indented(lines []string) {
	tabular, longest := 0, 0
	for _, line := range lines {
		if len(gap.FindAllString(line, 2)) > 1 {
			tabular++
		}
		longest = max(longest, len(line))
	}
	first := strings.TrimSpace(lines[0])
	isList := gap.MatchString(lines[0]) || strings.HasPrefix(first, "-")
	switch {
	case r.within == examples:
		r.examples(lines)
	case 3*tabular >= len(lines), r.within == "" && !isList && longest <= 80:
		r.verbatim(lines)
	default:
		r.list(lines)
	}
}

// examples writes what each example shows, and the example.
func (r *roff) examples(lines []string) {
	at := indent(lines[0])
	for len(lines) > 0 {
		var block []string
		block, lines = take(lines, func(line string) bool { return indent(line) <= at })
		r.macro(".PP")
		r.text(strings.Join(block, "\n"))
		if block, lines = take(lines, func(line string) bool { return indent(line) > at }); len(block) > 0 {
			r.verbatim(block)
		}
	}
}

// list writes the items of a list, and paragraphs between them.
func (r *roff) list(lines []string) {
	at := indent(lines[0])
	deeper := func(line string) bool { return indent(line) > at }
	for len(lines) > 0 {
		var block []string
		if text, ok := strings.CutPrefix(strings.TrimSpace(lines[0]), bullet); ok {
			block, lines = take(lines[1:], deeper)
			r.macro(".IP \\(bu 2")
			r.text(strings.Join(append([]string{text}, block...), "\n"))
			continue
		}
		if gap.MatchString(lines[0]) {
			lines = r.item(lines, at)
			continue
		}
		block, lines = take(lines, func(line string) bool {
			return indent(line) == at && !gap.MatchString(line) && !strings.HasPrefix(line[at:], bullet)
		})
		term := len(block) // where the lines begin that are a term with the text below it
		for len(lines) > 0 && deeper(lines[0]) && term > 0 && (term == len(block) || strings.HasSuffix(block[term-1], ",")) {
			term--
		}
		if term > 0 {
			r.macro(".PP")
			r.text(strings.Join(block[:term], "\n"))
		}
		if term < len(block) {
			r.term(strings.Join(strings.Fields(strings.Join(block[term:], " ")), " "))
			lines = r.definition(nil, lines, at, indent(lines[0]))
		}
	}
}

// item writes a term with the text beside it, and returns the lines below them.
func (r *roff) item(lines []string, at int) (rest []string) {
	columns := gap.FindStringSubmatchIndex(lines[0])
	column := columns[3]
	term, text := lines[0][:columns[2]], []string{lines[0][column:]}
	rest = lines[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0][at:], "(") { // the term goes on
		if below := gap.FindStringSubmatchIndex(rest[0]); below == nil || below[3] != column {
			break
		}
		term, text, rest = term+" "+strings.TrimSpace(rest[0][:column]), append(text, rest[0][column:]), rest[1:]
	}
	r.term(strings.TrimSpace(term))
	return r.definition(text, rest, at, column)
}

func (r *roff) term(text string) { r.macro(".TP\n\\fB%s\\fP", escape(text)) }

// definition writes the text of a term: that beside it, the lines that begin at its
// column, and lists below it.
func (r *roff) definition(beside, lines []string, at, column int) (rest []string) {
	below, rest := take(lines, func(line string) bool { return indent(line) >= column })
	r.text(strings.Join(append(beside, below...), "\n"))
	if nested, after := take(rest, func(line string) bool { return indent(line) > at }); len(nested) > 0 {
		r.macro(".RS")
		r.list(nested)
		r.macro(".RE")
		rest = after
	}
	return rest
}
