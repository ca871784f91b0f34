package archtest

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestForeignTypesAreFoundInTheAPI(t *testing.T) {
	t.Parallel()
	const header = "package framework\nimport \"" + zkPath + "\"\n"
	for src, want := range map[string]string{
		"func F(*zk.Conn) {}":                                   "F shows " + zkPath + ".Conn",
		"func F() (int, []zk.ACL) { return 0, nil }":            "F shows " + zkPath + ".ACL",
		"func F(...func(map[string]chan zk.ACL)) {}":            "F shows",
		"var V = zk.Flag(1)":                                    "V shows " + zkPath + ".Flag",
		"const C = zk.Ephemeral":                                "C shows " + zkPath + ".Flag",
		"type T struct{ A struct{ B [2]zk.ACL } }":              "T.A.B shows",
		"type T struct{ *zk.Conn }":                             "T.Conn shows",
		"type conn = zk.Conn; type T struct{ conn }":            "T.conn shows",
		"type t int; func (t) M(zk.ACL) {}; var V t":            "V.M shows",
		"type T int; func (*T) M(zk.ACL) {}":                    "T.M shows",
		"type T interface{ M() *zk.Conn }":                      "T.M shows",
		"type T = zk.Conn":                                      "T shows",
		"type T[P interface{ ~string | zk.Flag }] int":          "T shows",
		"func F[P zk.Closer]() {}":                              "F shows",
		"type T map[zk.Flag]int":                                "T shows",
		"func F[P zk.Closer](P) {}":                             "F shows",
		"type B[P any] struct{}; var V B[zk.ACL]":               "V shows",
		"type T func(zk.ACL)":                                   "T shows",
		"type T struct{ zk.Closer }":                            "T.Closer shows",
		"type t struct{ A zk.ACL }; func F() *t { return nil }": "F.A shows",
		"type T zk.ACL":                                         "exported type T is defined by zk.ACL",
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			files := sources{"framework/a.go": header + src}
			found := apiOf(t, files)
			require.Len(t, found, 1, "%v", found)
			assert.Contains(t, found[0].String(), want)
			assert.True(t, strings.HasPrefix(found[0].String(), "framework/a.go:3: exported "), found[0])
		})
	}
	for _, src := range []string{
		"type T struct{ conn *zk.Conn }; func (T) m(*zk.Conn) {}",
		"type t struct{ C *zk.Conn }; func f(t) {}",
		"func F() { var c zk.Conn; _ = c }",
		"const C = int(zk.Ephemeral)",
		"type t zk.ACL",
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			expect(t, apiOf(t, sources{"framework/a.go": header + src + "; var _ zk.Flag"}))
		})
	}
}

func TestALeakIsReportedOnceAndForEveryPackage(t *testing.T) {
	t.Parallel()
	expect(t, apiOf(t, sources{
		"framework/a.go":            "package framework\nimport \"" + zkPath + "\"\ntype T struct{ A zk.ACL }\nfunc F() *T { return nil }",
		"recipes/x/a.go":            "package x\nimport \"example.com/m/framework\"\nfunc F() framework.T { panic(0) }",
		"framework/internal/w/a.go": "package w\nimport \"" + zkPath + "\"\nvar V zk.ACL",
		"internal/y/a.go":           "package y\nimport \"" + zkPath + "\"\nvar V zk.ACL",
		"internal/z/a.go":           "package z\nimport \"" + backoffPath + "\"\nvar V backoff.B",
		"retry/a.go":                "package retry\nimport \"" + backoffPath + "\"\nvar V backoff.B",
		"cmd/tool/main.go":          "package main\nimport \"" + zkPath + "\"\nvar V zk.ACL",
		"framework/a_test.go":       "package framework\nimport \"" + zkPath + "\"\nvar TestV zk.ACL",
	}),
		"framework/a.go:3: exported framework.T.A shows "+zkPath+".ACL",
		"internal/y/a.go:3: exported y.V shows "+zkPath+".ACL",
		"retry/a.go:3: exported retry.V shows "+backoffPath+".B",
	)
}

// A user of a recipe can neither import internal packages nor read their documentation.
func TestInternalTypesAreFoundInThePublicAPI(t *testing.T) {
	t.Parallel()
	const hold = "package hold\ntype H struct{ F int }\nfunc (H) M() {}\ntype I interface{ M() }\nconst C I2 = 1\ntype I2 int\nvar Err error"
	const header = "import hold \"example.com/m/internal/hold\"\nvar _ hold.H\n"
	for src, want := range map[string]string{
		"func F(*hold.H) {}":                                "x.F shows example.com/m/internal/hold.H",
		"func F() ([]hold.H, error) { return nil, nil }":    "x.F shows",
		"type T = hold.H":                                   "x.T shows",
		"type T hold.H":                                     "exported type T is defined by hold.H",
		"type T struct{ F *hold.H }":                        "x.T.F shows",
		"type T struct{ hold.H }":                           "x.T.H shows",
		"type h = hold.H; type T struct{ h }":               "x.T.h shows",
		"type T struct{}; func (T) M() hold.I { panic(0) }": "x.T.M shows example.com/m/internal/hold.I",
		"type T interface{ hold.I }":                        "x.T shows",
		"const C = hold.C":                                  "x.C shows",
		"func F[P hold.I](P) {}":                            "x.F shows",
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			found := apiOf(t, sources{"internal/hold/a.go": hold, "recipes/x/a.go": "package x\n" + header + src})
			require.Len(t, found, 1, "%v", found)
			assert.Contains(t, found[0].String(), want)
		})
	}
	const fine = "type T struct{ h *hold.H }; func (t T) M() { t.h.M() }; var Err = hold.Err; const C = int(hold.C)"
	expect(t, apiOf(t, sources{
		"internal/hold/a.go":      hold,
		"recipes/x/a.go":          "package x\n" + header + fine,
		"internal/y/a.go":         "package y\n" + header + "type T struct{ hold.H }; func F() hold.I { panic(0) }; type U hold.H",
		"recipes/x/internal/a.go": "package a\n" + header + "var V hold.H",
		"cmd/tool/main.go":        "package main\n" + header + "var V hold.H",
	}))
}

// apiOf runs checkAPI on sources, with small substitutes for the dependencies.
func apiOf(t *testing.T, files sources) []violation {
	t.Helper()
	m := parse(t, files)
	others := newModule("")
	require.NoError(t, others.add(zkPath+"/zk.go", []byte(`package zk
		type (
			Conn struct{}
			ACL struct{ Perms int32 }
			Flag int
			Closer interface{ Close() }
		)
		const Ephemeral Flag = 1`)))
	require.NoError(t, others.add(backoffPath+"/b.go", []byte("package backoff\ntype B int")))

	checked := map[string]*types.Package{}
	var load importerFunc
	load = func(importPath string) (*types.Package, error) {
		if p := checked[importPath]; p != nil {
			return p, nil
		}
		from, dir := others, importPath
		if own, ours := m.dirOf(importPath); ours {
			from, dir = m, own
		}
		var trees []*ast.File
		for _, f := range from.packages[dir].code() {
			trees = append(trees, f.ast)
		}
		p, err := (&types.Config{Importer: load}).Check(importPath, from.fset, trees, nil)
		checked[importPath] = p
		return p, err
	}

	var pkgs []*types.Package
	for _, p := range m.sorted() {
		if len(p.code()) == 0 {
			continue
		}
		loaded, err := load(m.importPath(p.dir))
		require.NoError(t, err)
		pkgs = append(pkgs, loaded)
	}
	return checkAPI(m, "/nowhere", pkgs, m.fset)
}

type importerFunc func(importPath string) (*types.Package, error)

func (f importerFunc) Import(importPath string) (*types.Package, error) { return f(importPath) }
