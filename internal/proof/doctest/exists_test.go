package doctest

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// checkTests checks that tests, examples and benchmarks in backquotes exist.
func checkTests(r *repository, p Page) (found []Problem, seen int) {
	name := regexp.MustCompile(`^((?:Test|Example|Benchmark|Fuzz)(?:[A-Z_]\w*)?)(?:/.*)?$`)
	for _, s := range p.Spans() {
		if m := name.FindStringSubmatch(s.Text); m != nil {
			seen++
			if !r.source.tests[m[1]] {
				found = append(found, Problem{p.Path, s.Line, "there is no test " + m[1], "name one that exists"})
			}
		}
	}
	return found, seen
}

// checkRows checks that rows of the conformance suite exist. They are named behind
// "every recipe:", in quotes.
func checkRows(r *repository, p Page) (found []Problem, seen int) {
	rows := regexp.MustCompile(`every\s+recipe:\s+("[^"]+"(?:,\s+"[^"]+")*)`)
	for _, par := range p.paragraphs(func(l Line) string { return l.Ours }) {
		for _, m := range rows.FindAllStringSubmatchIndex(par.Text, -1) {
			line := par.Line + strings.Count(par.Text[:m[2]], "\n")
			for row := range strings.SplitSeq(strings.ReplaceAll(par.Text[m[2]:m[3]], "\n", " "), ", ") {
				seen++
				if !strings.Contains(r.source.suite, row) {
					found = append(found, Problem{p.Path, line, "no suite has the row " + row, "name one that exists"})
				}
			}
		}
	}
	return found, seen
}

var (
	makeCommand = regexp.MustCompile(`(?:^|[;&(] *|[A-Z_]+=\S+ )make((?: +[\w./=-]+| +[A-Z]+=(?:'[^']*'|"[^"]*"))*)`)
	makeWord    = regexp.MustCompile(`[A-Z]+=(?:'[^']*'|"[^"]*"|\S*)|\S+`)
)

// checkMake checks that the targets and variables of make exist, in backquotes and in
// blocks of commands.
func checkMake(r *repository, p Page) (found []Problem, seen int) {
	lines := p.Spans()
	for _, b := range p.Blocks {
		for i, line := range strings.Split(b.Text, "\n") {
			line, _, _ = strings.Cut(line, " #")
			if b.Info == "sh" {
				lines = append(lines, Span{line, b.Line + i})
			}
		}
	}
	for _, line := range lines {
		for _, m := range makeCommand.FindAllStringSubmatch(line.Text, -1) {
			for _, word := range makeWord.FindAllString(m[1], -1) {
				name, _, assigned := strings.Cut(word, "=")
				seen++
				switch {
				case strings.HasPrefix(word, "-"):
				case assigned && !strings.Contains(r.source.makefile, "$("+name+")"):
					found = append(found, Problem{p.Path, line.Line, "the Makefile does not use " + name, "name a variable that it uses"})
				case !assigned && !strings.Contains(r.source.makefile, "\n"+word+":"):
					found = append(found, Problem{p.Path, line.Line, "the Makefile has no target " + word, "name one that it has"})
				}
			}
		}
	}
	return found, seen
}

// checkFiles checks that files and folders in backquotes, and pages anywhere, exist,
// below the root or beside the page.
func checkFiles(r *repository, p Page) (found []Problem, seen int) {
	file := regexp.MustCompile(`^(?:\./)?([\w.-]+(?:/[\w.{},*-]+)*)/?$`)
	named := regexp.MustCompile(`(?:^|[\s(,])((?:\.\./)*[\w/-]+\.md)\b`)
	spans := p.Spans()
	for _, par := range p.paragraphs(func(l Line) string { return l.Ours }) {
		text := inlineLink.ReplaceAllString(par.Text, "[$1]") // checkLinks has their targets
		for _, m := range named.FindAllStringSubmatchIndex(text, -1) {
			spans = append(spans, Span{text[m[2]:m[3]], par.Line + strings.Count(text[:m[2]], "\n")})
		}
	}
	for _, s := range spans {
		m := file.FindStringSubmatch(s.Text)
		if m == nil || strings.Contains(m[1], "*") || strings.Contains(m[1], "...") {
			continue
		}
		first, _, isPath := strings.Cut(m[1], "/")
		_, err := fs.Stat(r.files, first)
		if isPath && (err != nil || first == "bin") || !isPath && path.Ext(m[1]) != ".md" {
			continue // no file of this repository
		}
		seen++
		_, err = fs.Stat(r.files, m[1])
		_, beside := fs.Stat(r.files, path.Join(path.Dir(p.Path), m[1]))
		if err != nil && beside != nil {
			found = append(found, Problem{p.Path, s.Line, "there is no " + m[1], "name what exists, from the root of the repository or from this page"})
		}
	}
	return found, seen
}

// checkVariables checks that the variables exist which pages for contributors name.
// Those of the command, on pages for users, are checked beside it.
func checkVariables(r *repository, p Page) (found []Problem, seen int) {
	developers := map[string]bool{"CONTRIBUTING.md": true, "ARCHITECTURE.md": true, "integration/README.md": true, "bench/README.md": true}
	for i, line := range p.Lines {
		for _, v := range variable.FindAllString(line.Text, -1) {
			if !developers[p.Path] {
				continue
			}
			seen++
			if !r.source.variables[v] {
				found = append(found, Problem{p.Path, i + 1, "nothing reads " + v, "name a variable that code or a script reads"})
			}
		}
	}
	return found, seen
}
