package doctest

import (
	"context"
	"errors"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// prelude is what the statements of each page may use without a declaration.
const prelude = `var (
	ctx    context.Context
	client *framework.Client
	held   *lease.Lease
	db     *sql.DB
	err    error
	t      *testing.T
)`

// GoBlocks compiles the Go blocks of pages, with the packages of the module in dir, and
// returns how many there are. A block may use what earlier blocks of its page declare.
func GoBlocks(ctx context.Context, dir string, pages []Page) (found []Problem, blocks int, err error) {
	all, found := parse(pages)
	used := map[string]bool{"context": true, "sql": true, "testing": true}
	for _, s := range all {
		maps.Copy(used, s.used)
	}
	w, err := load(ctx, dir, used)
	if err != nil {
		return nil, 0, err
	}
	return append(found, w.checkAll(all)...), len(all), nil
}

// parse returns the Go blocks of pages.
func parse(pages []Page) (all []*snippet, found []Problem) {
	for _, page := range pages {
		for _, b := range page.Blocks {
			if kind, _, _ := strings.Cut(strings.ToLower(b.Info), " "); kind == "golang" || kind == "go" && b.Info != "go" && b.Info != "go other" {
				found = append(found, Problem{page.Path, b.Line - 1, "a block of " + b.Info, `write "go", or "go other" for code of another library`})
			}
			if b.Info != "go" {
				continue
			}
			s, err := newSnippet(page.Path, b)
			if err != nil {
				found = append(found, unreadable(page.Path, b, err))
				continue
			}
			all = append(all, s)
		}
	}
	return all, found
}

// checkAll compiles blocks, those of a page in their order.
func (w *world) checkAll(all []*snippet) (found []Problem) {
	first, err := newSnippet("prelude", Block{Text: prelude, Line: 1})
	if err != nil {
		panic(err)
	}
	var earlier []*snippet
	for _, s := range all {
		if len(earlier) > 0 && earlier[0].page != s.page {
			earlier = nil
		}
		found = append(found, w.check(first, earlier, s)...)
		if s.form != wholeFile {
			earlier = append(earlier, s)
		}
	}
	return found
}

const (
	howToWrite   = `write a whole file, declarations, or statements; or "go other" for code of another library`
	howToCompile = "mend it, or declare what it uses, in an earlier block or in a comment <!-- go: ... -->"
)

func unreadable(page string, b Block, err error) Problem {
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return Problem{page, max(list[0].Pos.Line, b.Line), "this Go block cannot be parsed: " + list[0].Msg, howToWrite}
	}
	return Problem{page, b.Line, "this Go block cannot be parsed: " + err.Error(), howToWrite}
}

// check compiles one block, with the declarations of earlier ones, and inside of their
// statements. Mistakes of those are not reported again.
func (w *world) check(first *snippet, earlier []*snippet, s *snippet) (found []Problem) {
	fset := token.NewFileSet()
	files, unused := w.files(fset, first, earlier, s)
	end := s.Line + strings.Count(s.Text, "\n")
	config := types.Config{
		Importer:  w,
		GoVersion: "go1.25",
		Error: func(err error) {
			var e types.Error
			errors.As(err, &e)
			at := fset.Position(e.Pos)
			if at.Filename != s.page || at.Line < s.Line || at.Line > end || unused[e.Pos] {
				return
			}
			found = append(found, Problem{s.page, at.Line, "this Go block does not compile: " + e.Msg, howToCompile})
		},
	}
	config.Check(s.page, fset, files, nil) //nolint:errcheck // Error has them all
	return found
}

// files returns what is compiled together, and the variables that need not be used:
// those of a block, on which the next block or the reader goes on.
func (w *world) files(fset *token.FileSet, first *snippet, earlier []*snippet, s *snippet) ([]*ast.File, map[token.Pos]bool) {
	if s.form == wholeFile {
		f, _ := s.parseWhole(fset)
		return []*ast.File{f}, nil
	}
	imports := map[string]string{}
	around := []*ast.BlockStmt{}
	var files []*ast.File
	for _, e := range append([]*snippet{first}, earlier...) {
		if e.form == statements && s.form != statements {
			continue
		}
		own := w.imports(e)
		f, _ := e.parse(fset, own)
		if e.form == statements {
			around = append(around, body(f))
			maps.Copy(imports, own)
			maps.Copy(imports, e.own)
			continue
		}
		files = append(files, f)
	}
	maps.Copy(imports, w.imports(s))
	f, _ := s.parse(fset, imports)
	declared := map[string]bool{}
	for _, later := range slices.Backward(append(files, f)) {
		dropRedeclared(later, declared)
	}
	unused := map[token.Pos]bool{}
	if s.form == statements {
		unused = ownVariables(body(f))
		inside := body(f)
		for _, outer := range slices.Backward(around) {
			outer.List = append(outer.List[:len(outer.List)-1], inside, outer.List[len(outer.List)-1])
			inside = outer
		}
		f.Decls[len(f.Decls)-1].(*ast.FuncDecl).Body = inside
	}
	return append(files, f), unused
}

// ownVariables returns where the variables of a block are declared, but for those of
// blocks inside it.
func ownVariables(b *ast.BlockStmt) map[token.Pos]bool {
	at := map[token.Pos]bool{}
	for _, s := range b.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			for _, to := range s.Lhs {
				at[to.Pos()] = s.Tok == token.DEFINE
			}
		case *ast.DeclStmt:
			for _, spec := range s.Decl.(*ast.GenDecl).Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					for _, name := range values.Names {
						at[name.Pos()] = true
					}
				}
			}
		}
	}
	return at
}

// dropRedeclared removes what later blocks declare again, and adds what this one
// declares.
func dropRedeclared(f *ast.File, later map[string]bool) {
	mine := map[string]bool{}
	again := func(name string) bool { mine[name] = name != "_"; return name != "_" && later[name] }
	f.Decls = slices.DeleteFunc(f.Decls, func(d ast.Decl) bool {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				of := types.ExprString(d.Recv.List[0].Type)
				return later[strings.TrimPrefix(of, "*")]
			}
			return again(d.Name.Name)
		case *ast.GenDecl:
			d.Specs = slices.DeleteFunc(d.Specs, func(spec ast.Spec) bool {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					return again(spec.Name.Name)
				case *ast.ValueSpec:
					return len(spec.Names) == 1 && again(spec.Names[0].Name)
				}
				return false
			})
			return d.Tok != token.IMPORT && len(d.Specs) == 0
		}
		return false
	})
	maps.Copy(later, mine)
}
