package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// checkAPI checks that the exported API of pkgs names no type of another module: users
// must not need to import that module, and we must be free to change it. Types of the
// standard library and our own may appear, but no type of an internal package in the
// API of a public one: users could neither import it nor read its documentation. The
// packages may come from export data; m is their module.
func checkAPI(m *module, moduleDir string, pkgs []*types.Package, fset *token.FileSet) []violation {
	var found []violation
	shipped := m.shipped()
	for _, p := range pkgs {
		dir, ours := m.dirOf(p.Path())
		if !ours || p.Name() == "main" || belowFramework(dir) {
			continue
		}
		scope := p.Scope()
		for _, name := range scope.Names() {
			if !token.IsExported(name) {
				continue
			}
			root := scope.Lookup(name)
			w := apiWalker{m: m, root: root, shipped: shipped[dir], public: !internal(dir), seen: map[types.Type]bool{}}
			w.object(root, p.Name()+"."+name)
			for _, leak := range w.leaks {
				at := fset.Position(leak.at)
				if rel, err := filepath.Rel(moduleDir, at.Filename); err == nil && filepath.IsAbs(at.Filename) {
					at.Filename = filepath.ToSlash(rel)
				}
				found = append(found, violation{
					at.Filename, at.Line,
					"exported " + leak.where + " shows " + leak.foreign.Pkg().Path() + "." + leak.foreign.Name(),
					"declare a type of our own and convert inside the package",
				})
			}
		}
	}
	return append(found, checkConversions(m)...)
}

// belowFramework reports whether only framework can import the package in dir. Such a
// package may use the client library's types in its API.
func belowFramework(dir string) bool {
	unit, l := unitOf(dir)
	return l == client && internal(strings.TrimPrefix(dir, unit))
}

// internal reports whether other modules cannot import the package in dir.
func internal(dir string) bool { return slices.Contains(strings.Split(dir, "/"), "internal") }

// checkConversions finds what the types do not show: "type Stat zk.Stat" has only the
// structure of the other type, but its documentation refers to that.
func checkConversions(m *module) []violation {
	var found []violation
	for _, p := range m.sorted() {
		for _, f := range p.code() {
			hidden := m.hiddenFrom(p, f)
			for _, decl := range f.ast.Decls {
				group, ok := decl.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range group.Specs {
					named, ok := spec.(*ast.TypeSpec)
					if !ok || !named.Name.IsExported() || named.Assign != token.NoPos {
						continue // the walk over types finds an alias
					}
					selector, ok := named.Type.(*ast.SelectorExpr)
					if !ok {
						continue
					}
					if base, ok := selector.X.(*ast.Ident); ok && hidden[base.Name] {
						found = append(found, m.violation(f, named.Pos(),
							"exported type "+named.Name.Name+" is defined by "+base.Name+"."+selector.Sel.Name,
							"write its fields out"))
					}
				}
			}
		}
	}
	return found
}

// hiddenFrom returns the names by which a file imports packages whose types its package
// must not show.
func (m *module) hiddenFrom(p *pkg, f *file) map[string]bool {
	hidden := map[string]bool{}
	for _, spec := range f.ast.Imports {
		dir, ours := m.dirOf(pathOf(spec))
		if !within(pathOf(spec), zkPath) && (!ours || !internal(dir) || internal(p.dir)) {
			continue
		}
		name := path.Base(pathOf(spec))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		hidden[name] = true
	}
	return hidden
}

// apiWalker visits every type that a user of one exported name can reach.
type apiWalker struct {
	m       *module
	root    types.Object // where the walk began
	shipped bool
	public  bool
	seen    map[types.Type]bool
	leaks   []leak
}

type leak struct {
	at      token.Pos
	where   string
	foreign *types.TypeName
}

func (w *apiWalker) object(o types.Object, where string) {
	w.visit(o.Type(), o.Pos(), where)
}

// foreign reports whether a type must not appear here: a type of an internal package in
// a public one, or of another module. Packages that only tests use may show types of
// other modules, but not of the ZooKeeper client: a test that uses those would not
// notice a leak.
func (w *apiWalker) foreign(name *types.TypeName) bool {
	if name.Pkg() == nil || isStandard(name.Pkg().Path()) {
		return false
	}
	if dir, ours := w.m.dirOf(name.Pkg().Path()); ours {
		return w.public && internal(dir)
	}
	return w.shipped || within(name.Pkg().Path(), zkPath)
}

// named handles a type name. What it stands for is visited if it is ours, unless it is
// exported too: then it has a walk of its own, and reports for itself.
func (w *apiWalker) named(name *types.TypeName, args *types.TypeList, at token.Pos, where string, inside func()) {
	for arg := range args.Types() {
		w.visit(arg, at, where)
	}
	if w.foreign(name) {
		w.leaks = append(w.leaks, leak{at, where, name})
		return
	}
	if name.Pkg() != nil && (name == w.root || !name.Exported()) {
		if _, ours := w.m.dirOf(name.Pkg().Path()); ours {
			inside()
		}
	}
}

func (w *apiWalker) visit(t types.Type, at token.Pos, where string) {
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		w.named(t.Obj(), t.TypeArgs(), at, where, func() { w.visit(t.Rhs(), at, where) })
	case *types.Named:
		w.named(t.Obj(), t.TypeArgs(), at, where, func() { w.declared(t, at, where) })
	case *types.Pointer:
		w.visit(t.Elem(), at, where)
	case *types.Slice:
		w.visit(t.Elem(), at, where)
	case *types.Array:
		w.visit(t.Elem(), at, where)
	case *types.Chan:
		w.visit(t.Elem(), at, where)
	case *types.Map:
		w.visit(t.Key(), at, where)
		w.visit(t.Elem(), at, where)
	case *types.Tuple:
		for v := range t.Variables() {
			w.visit(v.Type(), at, where)
		}
	case *types.Signature:
		w.typeParams(t.TypeParams(), at, where)
		w.visit(t.Params(), at, where)
		w.visit(t.Results(), at, where)
	case *types.Struct:
		for field := range t.Fields() {
			// An embedded field's exported methods and fields become ours, whether its
			// own name is exported or not.
			if field.Exported() || field.Embedded() {
				w.object(field, where+"."+field.Name())
			}
		}
	case *types.Interface:
		for i := range t.NumExplicitMethods() {
			method := t.ExplicitMethod(i)
			w.object(method, where+"."+method.Name())
		}
		for embedded := range t.EmbeddedTypes() {
			w.visit(embedded, at, where)
		}
	case *types.Union:
		for term := range t.Terms() {
			w.visit(term.Type(), at, where)
		}
	case *types.TypeParam:
		w.visit(t.Constraint(), at, where)
	}
}

// declared visits a type of ours, exported or only handed out, with its methods.
func (w *apiWalker) declared(t *types.Named, at token.Pos, where string) {
	w.typeParams(t.TypeParams(), at, where)
	w.visit(t.Underlying(), at, where)
	for method := range t.Methods() {
		if method.Exported() {
			w.object(method, where+"."+method.Name())
		}
	}
}

func (w *apiWalker) typeParams(list *types.TypeParamList, at token.Pos, where string) {
	for param := range list.TypeParams() {
		w.visit(param.Constraint(), at, where)
	}
}
