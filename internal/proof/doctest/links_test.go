package doctest

import (
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

var (
	inlineLink     = regexp.MustCompile(`\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)(?: "[^"]*")?\)`)
	reference      = regexp.MustCompile(`(?m)^ *\[([^\]]+)\]: +(\S+)`)
	shortReference = regexp.MustCompile(`\[([a-z]+\d+)\]`)
	elsewhere      = regexp.MustCompile(`^[a-z]+:`)
	ownAddress     = regexp.MustCompile(`https://` + regexp.QuoteMeta(root) + `/(?:blob|tree)/main/([^\s()<>"]+)`)
	linkedTest     = regexp.MustCompile("^`?((?:Test|Example|Benchmark|Fuzz)(?:[A-Z_]\\w*)?)`?$")
	notOfAnAnchor  = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)
)

// A link is one that stays in the repository. Where a relative one does not work, as in
// the form of an issue, it is the address of a file on the branch main, anywhere.
type link struct {
	Span
	text, anchor string
	target       string // below the root; "" if it leaves that
}

// links returns those of a page that stay in the repository.
func links(p Page) (all []link) {
	for _, par := range p.paragraphs(func(l Line) string { return l.Text }) {
		for _, m := range ownAddress.FindAllStringSubmatchIndex(par.Text, -1) {
			file, anchor, _ := strings.Cut(par.Text[m[2]:m[3]], "#")
			at := par.Line + strings.Count(par.Text[:m[2]], "\n")
			all = append(all, link{Span{par.Text[m[0]:m[1]], at}, "", anchor, path.Clean(file)})
		}
		// The target of a link in backquotes is no link.
		text := span.ReplaceAllStringFunc(par.Text, func(code string) string { return strings.ReplaceAll(code, "](", "] ") })
		for _, m := range append(inlineLink.FindAllStringSubmatchIndex(text, -1), reference.FindAllStringSubmatchIndex(text, -1)...) {
			to := text[m[4]:m[5]]
			if elsewhere.MatchString(to) {
				continue
			}
			file, anchor, _ := strings.Cut(to, "#")
			l := link{Span{to, par.Line + strings.Count(text[:m[4]], "\n")}, text[m[2]:m[3]], anchor, p.Path}
			if file != "" {
				l.target = path.Join(path.Dir(p.Path), file)
			}
			if !fs.ValidPath(l.target) || strings.HasPrefix(file, "/") {
				l.target = ""
			}
			all = append(all, l)
		}
	}
	return all
}

// checkLinks checks that what a page links to is there: files, folders, the anchors of
// pages, and the tests by whose names it links to their files.
func checkLinks(r *repository, p Page) (found []Problem, seen int) {
	for _, l := range links(p) {
		seen++
		wrong := func(what, fix string) { found = append(found, Problem{p.Path, l.Line, what, fix}) }
		info, err := fs.Stat(r.files, l.target)
		if l.target == "" || err != nil {
			wrong("there is no "+l.Text, "link to what exists, relative to this page")
			continue
		}
		to, isPage := r.pages[l.target]
		if l.anchor != "" && (!isPage || !anchors(to)[l.anchor]) {
			wrong("there is no heading for the anchor #"+l.anchor+" in "+l.target, "take a heading in lower case, with - for each space and without punctuation")
		}
		test := linkedTest.FindStringSubmatch(l.text)
		if test == nil || info.IsDir() {
			continue
		}
		code, _ := fs.ReadFile(r.files, l.target)
		if !strings.Contains(string(code), "\nfunc "+test[1]+"(") {
			wrong(test[1]+" is not in "+l.target, "link to where it is")
		}
	}
	return found, seen
}

// checkReferences checks links by reference whose names are letters and a number, as in
// "[r1]": each has a definition, and each definition is used.
func checkReferences(_ *repository, p Page) (found []Problem, seen int) {
	used, defined := map[string]int{}, map[string]int{}
	for _, par := range p.paragraphs(func(l Line) string { return l.Text }) {
		text := span.ReplaceAllStringFunc(par.Text, func(code string) string { return strings.Repeat("\n", strings.Count(code, "\n")) })
		for _, m := range shortReference.FindAllStringSubmatchIndex(text, -1) {
			name, line := text[m[2]:m[3]], par.Line+strings.Count(text[:m[2]], "\n")
			if strings.HasPrefix(text[m[3]:], "]:") && strings.HasSuffix("\n"+text[:m[0]], "\n") {
				defined[name] = line
				continue
			}
			seen++
			used[name] = line
		}
	}
	for name, line := range used {
		if len(defined) > 0 && defined[name] == 0 {
			found = append(found, Problem{p.Path, line, "[" + name + "] leads nowhere", "define it at the end of the page"})
		}
	}
	for name, line := range defined {
		if used[name] == 0 {
			found = append(found, Problem{p.Path, line, "nothing refers to [" + name + "]", "remove it"})
		}
	}
	return found, seen
}

// anchors returns those of a page's headings, by the rule of GitHub.
func anchors(p Page) map[string]bool {
	all := map[string]bool{}
	for _, line := range p.Lines {
		m := headings.FindStringSubmatch(line.Text)
		if m == nil || line.Block {
			continue
		}
		title := inlineLink.ReplaceAllString(m[1], "$1")
		anchor := strings.ReplaceAll(notOfAnAnchor.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		again := anchor
		for n := 1; all[again]; n++ {
			again = anchor + "-" + strconv.Itoa(n)
		}
		all[again] = true
	}
	return all
}

// checkOrphans finds pages for users to which neither the README nor the index links.
func checkOrphans(r *repository) (found []Problem) {
	linked := map[string]bool{"docs/README.md": true}
	for _, from := range []string{"README.md", "docs/README.md"} {
		for _, l := range links(r.pages[from]) {
			linked[l.target] = true
		}
	}
	for name := range r.pages {
		if path.Dir(name) == "docs" && !linked[name] {
			found = append(found, Problem{name, 1, "no reader finds this page", "link to it in README.md or docs/README.md"})
		}
	}
	return found
}
