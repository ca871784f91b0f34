package doctest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A snippet is the source of one Go block.
type snippet struct {
	Block
	page    string
	form    form
	imports string            // its own import declarations
	rest    string            // what stands behind them
	own     map[string]string // what it imports itself, by name
	used    map[string]bool   // names in front of a dot, which may be those of packages
	results int               // how many values its statements return
}

// A form is what a block is.
type form int

const (
	wholeFile form = iota
	declarations
	statements
)

var packageClause = regexp.MustCompile(`(?m)\A(?:\s*(?://.*)?\n)*\s*package \w`)

// newSnippet finds out what a block is. An error has its place on the page.
func newSnippet(page string, b Block) (*snippet, error) {
	s := &snippet{Block: b, page: page, rest: b.Text, own: map[string]string{}, used: map[string]bool{}, results: 1}
	if packageClause.MatchString(b.Text) {
		s.form = wholeFile
		_, err := parser.ParseFile(token.NewFileSet(), "block", "//line "+page+":"+strconv.Itoa(b.Line)+"\n"+b.Text, parser.SkipObjectResolution)
		return s, err
	}
	const clause = "package page;"
	fset := token.NewFileSet()
	if f, err := parser.ParseFile(fset, "block", clause+b.Text, parser.ImportsOnly); err == nil && len(f.Decls) > 0 {
		end := fset.Position(f.Decls[len(f.Decls)-1].End()).Offset - len(clause)
		s.imports, s.rest = b.Text[:end], b.Text[end:]
		for _, spec := range f.Imports {
			s.own[importName(spec)] = importPath(spec)
		}
	}
	s.form = declarations
	f, asDeclarations := s.parse(token.NewFileSet(), nil)
	if asDeclarations == nil {
		s.look(f)
		return s, nil
	}
	s.form = statements
	f, asStatements := s.parse(token.NewFileSet(), nil)
	if asStatements == nil {
		s.look(f)
		return s, nil
	}
	if lineOf(asDeclarations) > lineOf(asStatements) {
		return nil, asDeclarations
	}
	return nil, asStatements
}

func lineOf(err error) int {
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return list[0].Pos.Line
	}
	return 0
}

// parse parses a block that is no whole file, with imports in front.
func (s *snippet) parse(fset *token.FileSet, imports map[string]string) (*ast.File, error) {
	var text strings.Builder
	text.WriteString("package page\n")
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		if s.own[name] == "" {
			fmt.Fprintf(&text, "import %s %q\n", name, imports[name])
		}
	}
	fmt.Fprintf(&text, "//line %s:%d\n%s", s.page, s.Line, s.imports)
	behind := s.Line + strings.Count(s.imports, "\n")
	switch s.form {
	case statements:
		results := strings.Repeat("_ any, ", s.results-1) + "_ error"
		fmt.Fprintf(&text, "\nfunc _() (%s) {\n//line %s:%d\n%s\n//line generated:1\npanic(0) }\n", results, s.page, behind, s.rest)
	default:
		fmt.Fprintf(&text, "%s\n", s.rest)
	}
	return parser.ParseFile(fset, "block", text.String(), parser.SkipObjectResolution)
}

// look finds the names in front of a dot, and how many values are returned.
func (s *snippet) look(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := selector.X.(*ast.Ident); ok {
				s.used[of.Name] = true
			}
		}
		return true
	})
	if s.form != statements {
		return
	}
	ast.Inspect(body(f), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			s.results = max(s.results, len(n.Results))
		}
		return true
	})
}

// body returns that of the statements of a block.
func body(f *ast.File) *ast.BlockStmt {
	return f.Decls[len(f.Decls)-1].(*ast.FuncDecl).Body
}

func importPath(spec *ast.ImportSpec) string {
	unquoted, _ := strconv.Unquote(spec.Path.Value) // the parser accepted it
	return unquoted
}

func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return lastElement(importPath(spec))
}

var version = regexp.MustCompile(`/v\d+$`)

// lastElement returns the name that a package of this path has as a rule.
func lastElement(importPath string) string {
	importPath = version.ReplaceAllString(importPath, "")
	return importPath[strings.LastIndex(importPath, "/")+1:]
}
