package doctest

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/proof/exportdata"
)

const root = "github.com/zkrecipes/zkrecipes"

// preferred is what a name means that several packages of the standard library have.
var preferred = map[string]string{
	"rand": "math/rand/v2", "template": "text/template", "pprof": "net/http/pprof", "scanner": "text/scanner",
}

// A world is the packages that blocks may import.
type world struct {
	types.Importer
	byName map[string]string // the path of a package, by its name
}

var public = regexp.MustCompile(`(?m)^[^\s.]+$`)

// load compiles the packages of the module in dir, and those of the standard library
// that have one of these names.
func load(ctx context.Context, dir string, used map[string]bool) (*world, error) {
	list := exec.CommandContext(ctx, "go", "list", "std")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list std: %w", err)
	}
	w := &world{byName: map[string]string{}}
	patterns := []string{"./...", root + "/framework", root + "/recipes/lease"}
	for _, importPath := range public.FindAllString(string(out), -1) {
		name := lastElement(importPath)
		hidden := slices.Contains(strings.Split(importPath, "/"), "internal") || strings.HasPrefix(importPath, "vendor/")
		if other := preferred[name]; !used[name] || hidden || other != "" && other != importPath {
			continue
		}
		patterns = append(patterns, importPath)
		w.byName[name] = importPath
	}
	build, err := exportdata.Compile(ctx, dir, patterns...)
	if err != nil {
		return nil, err
	}
	w.Importer = build.Importer(token.NewFileSet())
	for _, p := range build.Packages {
		ours := strings.HasPrefix(p.ImportPath, root)
		_, taken := w.byName[p.Name]
		if p.Name != "main" && (ours || !taken && strings.Contains(p.ImportPath, ".")) {
			w.byName[p.Name] = p.ImportPath
		}
	}
	return w, nil
}

// imports returns what a block imports by its name alone.
func (w *world) imports(s *snippet) map[string]string {
	found := map[string]string{}
	for name := range s.used {
		if importPath := w.byName[name]; importPath != "" && s.own[name] == "" {
			found[name] = importPath
		}
	}
	return found
}

func (s *snippet) parseWhole(fset *token.FileSet) (*ast.File, error) {
	return parser.ParseFile(fset, "block", "//line "+s.page+":"+strconv.Itoa(s.Line)+"\n"+s.Text, parser.SkipObjectResolution)
}
