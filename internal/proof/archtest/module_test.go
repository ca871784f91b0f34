package archtest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is the parsed source of one Go module. Build constraints are ignored: the
// rules hold for files of every platform.
type module struct {
	path     string // as in go.mod
	fset     *token.FileSet
	packages map[string]*pkg // by directory below the module root, "." for the root
}

// pkg is the Go files of one directory.
type pkg struct {
	dir   string
	files []*file
}

type file struct {
	path  string // below the module root, with slashes
	test  bool
	lines []string
	ast   *ast.File
}

// violation is a breach of a rule, at one place.
type violation struct {
	file string
	line int
	rule string // what is wrong
	fix  string // what to do
}

func (v violation) String() string {
	return fmt.Sprintf("%s:%d: %s; %s", v.file, v.line, v.rule, v.fix)
}

func (m *module) violation(f *file, at token.Pos, rule, fix string) violation {
	return violation{file: f.path, line: m.fset.Position(at).Line, rule: rule, fix: fix}
}

func newModule(modulePath string) *module {
	return &module{path: modulePath, fset: token.NewFileSet(), packages: map[string]*pkg{}}
}

// add parses one file. The name is its path below the module root.
func (m *module) add(name string, src []byte) error {
	tree, err := parser.ParseFile(m.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	p := m.packages[dir]
	if p == nil {
		p = &pkg{dir: dir}
		m.packages[dir] = p
	}
	p.files = append(p.files, &file{
		path:  name,
		test:  strings.HasSuffix(name, "_test.go"),
		lines: strings.Split(strings.TrimSuffix(string(src), "\n"), "\n"),
		ast:   tree,
	})
	return nil
}

// loadModule parses every Go file of the module at root, leaving out nested modules and
// what the go command leaves out too.
func loadModule(root string) (*module, error) {
	modulePath, err := modulePathOf(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	m := newModule(modulePath)
	err = filepath.WalkDir(root, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if full != root && (ignored(entry.Name()) || isModule(full)) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(full) != ".go" || ignored(entry.Name()) {
			return nil
		}
		src, err := os.ReadFile(full)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		return m.add(filepath.ToSlash(name), src)
	})
	return m, err
}

func ignored(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func modulePathOf(goMod string) (string, error) {
	src, err := os.ReadFile(goMod)
	if err != nil {
		return "", err
	}
	for lines := bufio.NewScanner(bytes.NewReader(src)); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), "module "); found {
			return strings.TrimSpace(rest), nil
		}
	}
	return "", errors.New(goMod + ": no module line")
}

// moduleRoot finds the module that the working directory lies in.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for !isModule(dir) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
	return dir, nil
}

// sorted returns the packages in the order of their directories.
func (m *module) sorted() []*pkg {
	all := make([]*pkg, 0, len(m.packages))
	for _, p := range m.packages {
		slices.SortFunc(p.files, func(a, b *file) int { return cmp.Compare(a.path, b.path) })
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pkg) int { return cmp.Compare(a.dir, b.dir) })
	return all
}

// code returns the package's files that are not tests.
func (p *pkg) code() []*file {
	return slices.DeleteFunc(slices.Clone(p.files), func(f *file) bool { return f.test })
}

// importPath returns the import path of the package in dir.
func (m *module) importPath(dir string) string { return path.Join(m.path, dir) }

// dirOf is the reverse of importPath; false for packages of other modules.
func (m *module) dirOf(importPath string) (string, bool) {
	if importPath == m.path {
		return ".", true
	}
	return strings.CutPrefix(importPath, m.path+"/")
}

func pathOf(spec *ast.ImportSpec) string {
	unquoted, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value // the parser accepted it, so this does not happen
	}
	return unquoted
}

// shipped returns the directories whose code users compile: all public packages, and
// the internal packages that these import. The rest are internal packages that only
// tests use.
func (m *module) shipped() map[string]bool {
	reached := map[string]bool{}
	var visit func(dir string)
	visit = func(dir string) {
		p := m.packages[dir]
		if p == nil || reached[dir] {
			return
		}
		reached[dir] = true
		for _, f := range p.code() {
			for _, spec := range f.ast.Imports {
				if to, ours := m.dirOf(pathOf(spec)); ours {
					visit(to)
				}
			}
		}
	}
	for dir := range m.packages {
		if !slices.Contains(strings.Split(dir, "/"), "internal") {
			visit(dir)
		}
	}
	return reached
}
