package doctest

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/exportdata"
)

// source is what is read of the repository's files.
type source struct {
	tests     map[string]bool   // the names of tests, benchmarks, fuzz targets and examples
	suite     string            // the rows of the conformance suite
	makefile  string            // the Makefile
	variables map[string]bool   // ZKRECIPES_ variables that code or scripts name
	folders   map[string]string // of a package that is not compiled here, by its name
	nested    map[string]*exported
}

var (
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Example|Benchmark|Fuzz)\w*)\(`)
	variable = regexp.MustCompile(`ZKRECIPES_[A-Z_]*[A-Z]\b`)
)

// compiled is this module, compiled once for all tests: not with the context of one.
var compiled = sync.OnceValues(func() (*exportdata.Build, error) {
	return exportdata.Compile(context.Background(), above, "./...")
})

// thisRepository reads this repository.
func thisRepository(t *testing.T) *repository {
	t.Helper()
	files := os.DirFS(above)
	pages, err := Pages(files)
	require.NoError(t, err)
	r := &repository{files: files, pages: map[string]Page{}, api: map[string]*exported{}, source: readSource(t, files)}
	for _, p := range pages {
		r.pages[p.Path] = p
	}
	maps.Copy(r.api, r.source.nested)
	build, err := compiled()
	require.NoError(t, err)
	read := build.Importer(token.NewFileSet())
	for _, p := range build.Packages {
		if !strings.HasPrefix(p.ImportPath, root) || p.Name == "main" || p.Export == "" {
			continue
		}
		types, err := read.Import(p.ImportPath)
		require.NoError(t, err)
		r.api[p.Name] = ofTypes(types)
	}
	r.metrics = readMetrics(r)
	return r
}

func readSource(t *testing.T, files fs.FS) *source {
	t.Helper()
	s := &source{tests: map[string]bool{}, variables: map[string]bool{}, folders: map[string]string{}, nested: map[string]*exported{}}
	nested := map[string]bool{}
	require.NoError(t, fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, err := fs.Stat(files, path.Join(name, "go.mod"))
			nested[name] = name != "." && (err == nil || nested[path.Dir(name)])
			if hidden := strings.HasPrefix(entry.Name(), ".") && name != "." && name != ".ci"; hidden || name == "bin" {
				return fs.SkipDir
			}
			return nil
		}
		isGo, script := path.Ext(name) == ".go", path.Dir(name) == ".ci" || path.Base(name) == "Makefile"
		if !isGo && !script {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		s.file(name, string(text))
		if isGo && nested[path.Dir(name)] && !strings.HasSuffix(name, "_test.go") {
			return s.nestedFile(name, text)
		}
		return nil
	}))
	return s
}

func (s *source) file(name, text string) {
	for _, v := range variable.FindAllString(text, -1) {
		// The tests of these checks name variables that do not exist.
		s.variables[v] = s.variables[v] || !strings.HasPrefix(name, "internal/proof/doctest/")
	}
	switch {
	case strings.HasSuffix(name, "_test.go"):
		for _, found := range testFunc.FindAllStringSubmatch(text, -1) {
			s.tests[found[1]] = true
		}
	case name == "Makefile":
		s.makefile = text
	case strings.HasPrefix(name, "internal/proof/conformance/suite"):
		s.suite += text
	}
}

// nestedFile reads a file of a module that is not compiled here.
func (s *source) nestedFile(name string, text []byte) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil || f.Name.Name == "main" {
		return err
	}
	s.nestedPackage(f, path.Dir(name))
	return nil
}

func (s *source) nestedPackage(f *ast.File, folder string) {
	name := f.Name.Name
	if s.nested[name] == nil {
		s.nested[name] = newExported(folder)
	}
	s.folders[name] = folder
	s.nested[name].add(f)
}
