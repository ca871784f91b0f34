package archtest

import (
	"go/ast"
	"go/token"
)

// checkDocs checks that every package and every exported name is documented. One
// comment is enough for a group of constants or variables; types, functions, methods,
// struct fields and interface methods need one each. Embedded fields and methods are
// documented where they are declared.
func checkDocs(m *module) []violation {
	var found []violation
	for _, p := range m.sorted() {
		code := p.code()
		if len(code) == 0 {
			continue
		}
		commented := false
		for _, f := range code {
			commented = commented || f.ast.Doc.Text() != ""
			d := docChecker{m: m, f: f}
			for _, decl := range f.ast.Decls {
				d.decl(decl)
			}
			found = append(found, d.found...)
		}
		if !commented {
			f := code[0]
			found = append(found, m.violation(f, f.ast.Package, "package "+f.ast.Name.Name+" has no package comment",
				`begin one file with "// Package `+f.ast.Name.Name+` ..." and say what it is for`))
		}
	}
	return found
}

type docChecker struct {
	m     *module
	f     *file
	found []violation
}

// need records name unless one of the comments has text. Directives, such as those for
// "go generate", are no text.
func (d *docChecker) need(name *ast.Ident, label string, comments ...*ast.CommentGroup) {
	if !name.IsExported() {
		return
	}
	for _, c := range comments {
		if c.Text() != "" {
			return
		}
	}
	d.found = append(d.found, d.m.violation(d.f, name.Pos(), "exported "+label+" is not documented",
		"say above it what it means: unit, zero value, errors, concurrency"))
}

func (d *docChecker) decl(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			d.need(decl.Name, "function "+decl.Name.Name, decl.Doc)
		} else if base := receiver(decl.Recv.List[0].Type); base != nil && base.IsExported() {
			d.need(decl.Name, "method "+base.Name+"."+decl.Name.Name, decl.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			d.spec(decl, spec)
		}
	}
}

func (d *docChecker) spec(group *ast.GenDecl, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			d.need(name, group.Tok.String()+" "+name.Name, group.Doc, spec.Doc, spec.Comment)
		}
	case *ast.TypeSpec:
		doc := []*ast.CommentGroup{spec.Doc, spec.Comment}
		if group.Lparen == token.NoPos {
			doc = append(doc, group.Doc)
		}
		d.need(spec.Name, "type "+spec.Name.Name, doc...)
		if spec.Name.IsExported() {
			d.members(spec.Name.Name, spec.Type)
		}
	}
}

// members visits the fields of a struct, also of structs within it, and the methods of
// an interface.
func (d *docChecker) members(of string, expr ast.Expr) {
	switch expr := expr.(type) {
	case *ast.StructType:
		for _, field := range expr.Fields.List {
			for _, name := range field.Names {
				d.need(name, "field "+of+"."+name.Name, field.Doc, field.Comment)
				if name.IsExported() {
					d.members(of+"."+name.Name, field.Type)
				}
			}
		}
	case *ast.InterfaceType:
		for _, method := range expr.Methods.List {
			for _, name := range method.Names {
				d.need(name, "interface method "+of+"."+name.Name, method.Doc, method.Comment)
			}
		}
	case *ast.StarExpr:
		d.members(of, expr.X)
	case *ast.ArrayType:
		d.members(of, expr.Elt)
	case *ast.MapType:
		d.members(of, expr.Value)
	}
}

// receiver returns the name of the type that a method belongs to.
func receiver(expr ast.Expr) *ast.Ident {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.ParenExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.IndexListExpr:
		return receiver(expr.X)
	default:
		return nil
	}
}
