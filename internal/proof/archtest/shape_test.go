package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxLines is the limit for a file. The aim is 200.
	maxLines = 300
	// maxFunctionLines is the limit for nine of ten functions.
	maxFunctionLines = 26
	// maxColumns is the width of comments. A tab counts for tabColumns.
	maxColumns = 88
	tabColumns = 4
)

// emptyNames do not tell what is inside, so that they attract anything.
var emptyNames = map[string]bool{
	"util": true, "utils": true, "helper": true, "helpers": true,
	"common": true, "manager": true, "base": true,
}

// checkShape checks the size of files and the names of files and packages.
func checkShape(m *module) []violation {
	var found []violation
	for _, p := range m.sorted() {
		for _, f := range p.files {
			if lines := len(f.lines); !f.test && lines > maxLines {
				found = append(found, violation{
					f.path, lines, fmt.Sprintf("file has %d lines, the limit is %d", lines, maxLines),
					"split it by subject into files whose names say which",
				})
			}
			if name := emptyName(f.ast.Name.Name, path.Base(f.path)); name != "" {
				found = append(found, m.violation(f, f.ast.Name.Pos(), fmt.Sprintf("the name %q says nothing", name),
					"name it for what it does"))
			}
		}
		if name := emptyName(strings.Split(p.dir, "/")...); name != "" {
			f := p.files[0]
			found = append(found, m.violation(f, f.ast.Name.Pos(), fmt.Sprintf("the folder name %q says nothing", name),
				"name it for what it does"))
		}
	}
	return found
}

// emptyName returns the first name that has one of the emptyNames as a word.
func emptyName(names ...string) string {
	for _, name := range names {
		words := strings.FieldsFunc(strings.ToLower(strings.TrimSuffix(name, ".go")), func(r rune) bool {
			return r == '_' || r == '-' || r == '.'
		})
		for _, word := range words {
			if emptyNames[word] {
				return name
			}
		}
	}
	return ""
}

// checkFunctions checks the length of functions in shipped packages. A few may be
// longer.
func checkFunctions(m *module) []violation {
	type function struct {
		file  *file
		decl  *ast.FuncDecl
		lines int
	}
	var all []function
	shipped := m.shipped()
	for _, p := range m.sorted() {
		for _, f := range p.code() {
			for _, decl := range f.ast.Decls {
				if decl, ok := decl.(*ast.FuncDecl); ok && shipped[p.dir] {
					lines := m.fset.Position(decl.End()).Line - m.fset.Position(decl.Pos()).Line + 1
					all = append(all, function{f, decl, lines})
				}
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b function) int { return cmp.Compare(a.lines, b.lines) })
	last := all[(len(all)-1)*9/10] // of nine tenths
	if last.lines <= maxFunctionLines {
		return nil
	}
	longest := all[len(all)-1]
	return []violation{m.violation(longest.file, longest.decl.Pos(),
		fmt.Sprintf("a tenth of all functions has %d lines or more, the limit is %d", last.lines, maxFunctionLines),
		"split this one, and others that are long, by what they do")}
}

// checkComments checks the width of comments that stand on their own lines.
func checkComments(m *module) []violation {
	var found []violation
	for _, p := range m.sorted() {
		for _, f := range p.files {
			for _, group := range f.ast.Comments {
				for _, c := range group.List {
					at := m.fset.Position(c.Pos()).Line
					line := f.lines[at-1]
					text, alone := strings.CutPrefix(strings.TrimLeft(line, "\t"), "//")
					if output.MatchString(text) {
						break // what an example prints is as it is
					}
					if alone && wraps(text) && columns(line) > maxColumns {
						found = append(found, m.violation(f, c.Pos(),
							fmt.Sprintf("comment has %d columns, the limit is %d", columns(line), maxColumns), "wrap it there"))
					}
				}
			}
		}
	}
	return found
}

// output is where the output of an example begins.
var output = regexp.MustCompile(`(?i)^ *(unordered )?output:`)

// wraps tells whether a line of a comment can be wrapped: not code, a directive or one
// word.
func wraps(text string) bool {
	return strings.HasPrefix(text, " ") && len(strings.Fields(text)) > 1
}

func columns(line string) int {
	return utf8.RuneCountInString(line) + strings.Count(line, "\t")*(tabColumns-1)
}
