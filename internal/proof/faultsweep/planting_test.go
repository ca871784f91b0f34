package faultsweep

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// plantedVariable is the environment variable that names the mutant of a run.
const plantedVariable = "ZKRECIPES_PLANTED"

// A planting is test binaries with planted mutants. Most tests find a mutant in much
// less time than a binary takes to build, so one binary has many mutants: beside a
// function there is each mutant of it, which it calls in runs of that mutant.
type planting struct {
	root, dir string
	files     map[string]string // texts of changed files, by their paths from root
	packages  map[string]bool   // those of the tests
	build     func() string     // builds once, and returns what went wrong
}

func newPlanting(t *testing.T, root string) *planting {
	t.Helper()
	p := &planting{root: root, dir: t.TempDir(), files: map[string]string{}, packages: map[string]bool{}}
	p.build = sync.OnceValue(func() string { return p.buildAll(t) })
	return p
}

// add plants a mutant beside others. It cannot if more than the body of one function is
// changed, or if the function cannot be called with its own arguments.
func (p *planting) add(m Mutant, text, changed string) bool {
	head, bad, ok := onlyChange(text, changed)
	if !ok {
		return false
	}
	if p.files[m.File] == "" {
		p.files[m.File] = text
	}
	name := fmt.Sprint(bad.Name.Name, "Mutant", strings.Count(p.files[m.File], "\n//line "))
	call, ok := callOf(changed, bad, name)
	if !ok {
		return false
	}
	planted := strings.Replace(p.files[m.File], head, fmt.Sprintf("%s if plantedMutant == %q { %s };", head, m.Name, call), 1)
	mutant := changed[bad.Pos()-1:bad.Name.Pos()-1] + name + changed[bad.Name.End()-1:bad.End()-1]
	p.files[m.File] = planted + fmt.Sprintf("\n//line %q:1\n%s\n", m.Name, mutant)
	p.files[filepath.Dir(m.File)+"/planted_mutant.go"] = fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar plantedMutant = os.Getenv(%q)\n", parse(text).Name.Name, plantedVariable)
	p.packages[m.Package] = true
	return true
}

// parse returns the syntax of a file, whose positions are offsets in the text, plus 1.
func parse(text string) *ast.File {
	return must(parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution))
}

// onlyChange returns the only declaration that is different in the two texts of a file,
// if that is a function and only its body is, and its text up to the body.
func onlyChange(text, changed string) (head string, bad *ast.FuncDecl, ok bool) {
	was, is := parse(text).Decls, parse(changed).Decls
	if len(was) != len(is) {
		return "", nil, false
	}
	for i, decl := range is {
		if text[was[i].Pos()-1:was[i].End()-1] == changed[decl.Pos()-1:decl.End()-1] {
			continue
		}
		f, isFunc := decl.(*ast.FuncDecl)
		if !isFunc || bad != nil {
			return "", nil, false
		}
		head, bad = changed[f.Pos()-1:f.Body.Lbrace], f
	}
	return head, bad, bad != nil && strings.HasPrefix(text[was[slices.Index(is, ast.Decl(bad))].Pos()-1:], head)
}

// callOf is a call of a function that is like f and has another name, from within f. A
// parameter without a name, which f cannot use, gets a zero value.
func callOf(text string, f *ast.FuncDecl, name string) (call string, ok bool) {
	of := func(n ast.Node) string { return text[n.Pos()-1 : n.End()-1] }
	var args []string
	for _, param := range f.Type.Params.List {
		_, variadic := param.Type.(*ast.Ellipsis)
		for _, arg := range param.Names {
			switch {
			case variadic:
				args = append(args, arg.Name+"...")
			case arg.Name == "_":
				args = append(args, "*new("+of(param.Type)+")")
			default:
				args = append(args, arg.Name)
			}
		}
	}
	if len(args) != f.Type.Params.NumFields() || slices.Contains(args, "_...") {
		return "", false
	}
	if f.Type.TypeParams != nil {
		var types []string
		for _, param := range f.Type.TypeParams.List {
			for _, arg := range param.Names {
				types = append(types, arg.Name)
			}
		}
		name += "[" + strings.Join(types, ", ") + "]"
	}
	call = fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
	if f.Recv != nil {
		if len(f.Recv.List[0].Names) == 0 {
			return "", false
		}
		call = f.Recv.List[0].Names[0].Name + "." + call
	}
	if f.Type.Results == nil {
		return call + "; return", true
	}
	return "return " + call, true
}

// buildAll builds the binaries of all packages.
func (p *planting) buildAll(t *testing.T) string {
	overlay := map[string]string{}
	for file, text := range p.files {
		changed := filepath.Join(p.dir, fmt.Sprint(len(overlay), ".go"))
		must(true, os.WriteFile(changed, []byte(text), 0o600))
		overlay[filepath.Join(p.root, filepath.FromSlash(file))] = changed
	}
	config := filepath.Join(p.dir, "overlay.json")
	must(true, os.WriteFile(config, must(json.Marshal(map[string]any{"Replace": overlay})), 0o600))
	args := []string{"test", "-c", "-overlay", config, "-ldflags=-s -w", "-vet=off", "-o", p.dir + "/"}
	cmd := exec.CommandContext(t.Context(), "go", slices.AppendSeq(args, maps.Keys(p.packages))...)
	cmd.Dir = p.root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Sprintf("%v\n%s", err, output)
	}
	return ""
}
