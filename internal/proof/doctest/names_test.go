package doctest

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

// exported is what a package shows.
type exported struct {
	public  bool
	names   map[string]bool
	members map[string]map[string]bool // fields and methods, by type
}

func newExported(importPath string) *exported {
	internal := slices.Contains(strings.Split(importPath, "/"), "internal")
	return &exported{public: !internal, names: map[string]bool{}, members: map[string]map[string]bool{}}
}

func (e *exported) member(of, name string) {
	if e.members[of] == nil {
		e.members[of] = map[string]bool{}
	}
	e.members[of][name] = true
}

// has reports whether a package has a name, or one of its types has a member of it: on
// pages, a variable is named as its package is, as in mutex.Acquire.
func (e *exported) has(name string) bool {
	for _, members := range e.members {
		if members[name] {
			return true
		}
	}
	return e.names[name]
}

// ofTypes reads what a compiled package shows, with all that embedded types give.
func ofTypes(p *types.Package) *exported {
	e := newExported(p.Path())
	for _, name := range p.Scope().Names() {
		e.names[name] = true
		of, isType := p.Scope().Lookup(name).(*types.TypeName)
		if !isType {
			continue
		}
		pointer := of.Type()
		if !types.IsInterface(pointer) {
			pointer = types.NewPointer(pointer)
		}
		for method := range types.NewMethodSet(pointer).Methods() {
			e.member(name, method.Obj().Name())
		}
		e.fields(name, of.Type())
	}
	return e
}

func (e *exported) fields(name string, of types.Type) {
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	if s, ok := of.Underlying().(*types.Struct); ok {
		for field := range s.Fields() {
			e.member(name, field.Name())
			if field.Embedded() {
				e.fields(name, field.Type())
			}
		}
	}
}

// add reads what one file of a package shows that is not compiled here. What embedded
// types give is not known.
func (e *exported) add(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				e.names[d.Name.Name] = true
				continue
			}
			of := types.ExprString(d.Recv.List[0].Type)
			of, _, _ = strings.Cut(strings.TrimPrefix(of, "*"), "[")
			e.member(of, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				e.spec(spec)
			}
		}
	}
}

func (e *exported) spec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			e.names[name.Name] = true
		}
	case *ast.TypeSpec:
		e.names[spec.Name.Name] = true
		ast.Inspect(spec.Type, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok {
				for _, name := range field.Names {
					e.member(spec.Name.Name, name.Name)
				}
			}
			return true
		})
	}
}

var (
	chain = regexp.MustCompile(`(?:^|[^\w./$@-])([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)`)
	alone = regexp.MustCompile(`^(?:With|Err)[A-Z]\w*$`)
)

// receivers are the variables that all pages use.
var receivers = map[string][2]string{"held": {"lease", "Lease"}, "client": {"framework", "Client"}}

// checkNames checks the names of the API in backquotes: those with one of our packages
// or types in front, or with a variable of receivers; and those of options and errors
// alone.
func checkNames(r *repository, p Page) (found []Problem, seen int) {
	for _, s := range p.Spans() {
		for _, m := range chain.FindAllStringSubmatch(s.Text, -1) {
			of, known := r.knows(p, strings.Split(m[1], "."))
			if known {
				seen++
			}
			if of != "" {
				found = append(found, Problem{p.Path, s.Line, of, "name what exists; in front of a name of another library write its package"})
			}
		}
	}
	return found, seen
}

// knows reports whether a name is one of ours, and what is wrong with it.
func (r *repository) knows(p Page, parts []string) (wrong string, ours bool) {
	first := parts[0]
	switch pkg := r.api[first]; {
	case len(parts) == 1 && alone.MatchString(first):
		for _, e := range r.api {
			if e.public && e.names[first] {
				return "", true
			}
		}
		return "no package exports " + first, true
	case len(parts) == 1 || !token.IsExported(parts[1]):
		return "", false
	case pkg != nil && !pkg.has(parts[1]):
		return "package " + first + " has no " + parts[1], true
	case pkg != nil:
		if members := pkg.members[parts[1]]; len(parts) > 2 && token.IsExported(parts[2]) && members != nil && !members[parts[2]] {
			return first + "." + parts[1] + " has no " + parts[2], true
		}
		return "", true
	case receivers[first] != [2]string{}:
		of := receivers[first]
		if !r.api[of[0]].members[of[1]][parts[1]] {
			return of[0] + "." + of[1] + " has no " + parts[1], true
		}
		return "", true
	}
	return r.knowsType(p, first, parts[1])
}

// knowsType is knows for a member of a type without its package: Config is that of the
// page's folder, or the client's, and any other that of any package.
func (r *repository) knowsType(p Page, of, member string) (wrong string, ours bool) {
	for name, e := range r.api {
		here := r.source.folders[name] == path.Dir(p.Path)
		if members := e.members[of]; members != nil && (of != "Config" || here || name == "framework") {
			ours = true
			if members[member] {
				return "", true
			}
		}
	}
	if ours {
		return of + " has no " + member, true
	}
	return "", false
}
