package doctest

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// A Problem is one mistake on a page.
type Problem struct {
	Page string // its path
	Line int    // from 1
	What string // what is wrong
	Fix  string // what to do
}

// String returns it in the form that editors turn into a link.
func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s; %s", p.Page, p.Line, p.What, p.Fix) }

// A Page is a Markdown file.
type Page struct {
	Path   string  // below the root of the repository, with slashes
	Lines  []Line  // all of them
	Blocks []Block // in their order
}

// A Line is one line of a page.
type Line struct {
	Text  string // as it stands there
	Block bool   // it is in a fenced block, or is its fence
	// Ours is the text without what is about other systems: in the rows of a table that
	// has columns of ours, only these, joined by "|". See [ours].
	Ours string
}

// A Block is a fenced block, or a hidden one: the text of a comment <!-- go: ... -->,
// which declares for the test what a reader of the next Go block understands without
// it.
type Block struct {
	Info string // what stands behind the fence, such as "go"
	Text string // without the indentation of the fence
	Line int    // of the first line of the text
}

var (
	fence      = regexp.MustCompile("^( *)(```+|~~~+) *([^`]*)$")
	hiddenGo   = regexp.MustCompile(`^<!-- go:`)
	headings   = regexp.MustCompile(`^#{1,6} +(.+?) *#*$`)
	beginsItem = regexp.MustCompile(`^ *([-*+]|\d+[.)]) `)
	span       = regexp.MustCompile("(`+)([^`]+)(`+)")
)

// Pages reads all Markdown files, and the forms of issues, which are Markdown in YAML.
func Pages(files fs.FS) ([]Page, error) {
	var pages []Page
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && name != "." && name != ".github"
		if entry.IsDir() && (hidden || entry.Name() == "testdata" || name == "bin") {
			return fs.SkipDir
		}
		if entry.IsDir() || path.Ext(name) != ".md" && path.Dir(name) != ".github/ISSUE_TEMPLATE" {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		pages = append(pages, NewPage(name, string(text)))
		return err
	})
	return pages, err
}

// NewPage reads the text of a page.
func NewPage(name, text string) Page {
	p := Page{Path: name}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var t table
	for i := 0; i < len(lines); i++ {
		end := p.block(lines, i)
		for ; i < end; i++ { // the lines of a block, but for the last
			p.Lines = append(p.Lines, Line{Text: lines[i], Block: true, Ours: lines[i]})
		}
		p.Lines = append(p.Lines, Line{Text: lines[i], Block: end >= 0, Ours: t.ours(lines[i])})
	}
	return p
}

// block adds the block that begins at a line, if any, and returns its last line, or -1.
func (p *Page) block(lines []string, at int) int {
	if hiddenGo.MatchString(lines[at]) {
		for end := at; end < len(lines); end++ {
			if text, found := strings.CutSuffix(strings.Join(lines[at:end+1], "\n"), "-->"); found {
				p.Blocks = append(p.Blocks, Block{"go", hiddenGo.ReplaceAllString(text, ""), at + 1})
				return end
			}
		}
	}
	open := fence.FindStringSubmatch(lines[at])
	if open == nil {
		return -1
	}
	var text []string
	for end := at + 1; end < len(lines); end++ {
		if shut := strings.TrimSpace(lines[end]); strings.HasPrefix(shut, open[2]) && strings.Trim(shut, open[2][:1]) == "" {
			p.Blocks = append(p.Blocks, Block{strings.TrimSpace(open[3]), strings.Join(text, "\n"), at + 2})
			return end
		}
		text = append(text, strings.TrimPrefix(lines[end], open[1]))
	}
	p.Blocks = append(p.Blocks, Block{strings.TrimSpace(open[3]), strings.Join(text, "\n"), at + 2})
	return len(lines) - 1
}

// A table keeps which columns of the present one are ours.
type table struct{ kept []bool }

var ourHeading = regexp.MustCompile(`^(here|zkrecipes|this library)\b`)

// ours removes from a row what is about other systems. A table is about others too if
// the heading of a column begins with "here", "zkrecipes" or "this library". Then these
// columns are ours, and those without a heading, which have remarks.
func (t *table) ours(line string) string {
	if !strings.HasPrefix(line, "|") {
		t.kept = nil
		return line
	}
	row := cells(line)
	if t.kept == nil {
		compares := false
		for _, heading := range row {
			is := ourHeading.MatchString(strings.Trim(heading, "`"))
			compares = compares || is
			t.kept = append(t.kept, is || heading == "")
		}
		for i := range t.kept {
			t.kept[i] = t.kept[i] || !compares
		}
	}
	var kept []string
	for i, cell := range row {
		if i >= len(t.kept) || t.kept[i] {
			kept = append(kept, cell)
		}
	}
	return strings.Join(kept, "|")
}

// cells returns the cells of a row.
func cells(row string) []string {
	const escaped = "\x00"
	row = strings.ReplaceAll(strings.TrimSpace(row), `\|`, escaped)
	all := strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
	for i, cell := range all {
		all[i] = strings.TrimSpace(strings.ReplaceAll(cell, escaped, "|"))
	}
	return all
}

// A Span is a piece of text on a page.
type Span struct {
	Text string // what is between the marks
	Line int    // where it begins
}

// Spans returns what stands in backquotes and is ours.
func (p Page) Spans() (all []Span) {
	for _, par := range p.paragraphs(func(l Line) string { return l.Ours }) {
		for _, m := range span.FindAllStringSubmatchIndex(par.Text, -1) {
			text := strings.ReplaceAll(par.Text[m[4]:m[5]], "\n", " ")
			all = append(all, Span{strings.TrimSpace(text), par.Line + strings.Count(par.Text[:m[4]], "\n")})
		}
	}
	return all
}

// paragraphs returns the text outside of blocks: paragraphs, headings, items of lists
// and rows of tables.
func (p Page) paragraphs(text func(Line) string) (all []Span) {
	begin := true
	for i, line := range p.Lines {
		alone := strings.HasPrefix(line.Text, "|") || headings.MatchString(line.Text)
		switch {
		case line.Block || strings.TrimSpace(line.Text) == "":
			begin = true
			continue
		case begin || alone || beginsItem.MatchString(line.Text):
			all = append(all, Span{text(line), i + 1})
		default:
			all[len(all)-1].Text += "\n" + text(line)
		}
		begin = alone
	}
	return all
}
