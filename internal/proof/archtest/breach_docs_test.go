package archtest

import (
	"testing"
)

func TestDocumentationIsHeld(t *testing.T) {
	t.Parallel()
	found := checkDocs(parse(t, sources{
		"a/a.go": `package a

func Free() {}
type T struct {
	Field, Other int
	// Told is documented.
	Told int
	Aside int // documented aside
	Inner []struct{ Deep int }
	hidden int
	T2
}
func (t *T) Method() {}
func (t T) quiet() {}
type I interface { Ask() }
const C = 1
var (
	V1 = 1
	// V2 is documented.
	V2, v3 = 1, 2
)
// One comment is not enough for a group of types.
type (
	// G1 is documented.
	G1[P any] int
	T2 int
)
func (g G1[P]) Generic() {}
//go:noinline
func Directive() {}
`,
		"a/a_test.go": "package a\nfunc TestX() {}\n",
		"b/b.go": `// Package b is fine.
package b

// C and D belong together.
const (
	C = iota
	D
)

// F is documented.
func F() {}

type t struct{ Field int }

func (t) Method() {}

// S is documented.
type S struct {
	t
	_ struct{}
	// Inner is documented.
	Inner *struct {
		Deep int // documented
	}
}
`,
		"b/doc.go":       "package b\n",
		"c/only_test.go": "package c\nfunc Exported() {}\n",
	}))
	expect(t, found,
		"a/a.go:3: exported function Free is not documented",
		"a/a.go:4: exported type T is not documented",
		"a/a.go:5: exported field T.Field is",
		"a/a.go:5: exported field T.Other is",
		"a/a.go:9: exported field T.Inner is",
		"a/a.go:9: exported field T.Inner.Deep is",
		"a/a.go:13: exported method T.Method is",
		"a/a.go:15: exported type I is",
		"a/a.go:15: exported interface method I.Ask is",
		"a/a.go:16: exported const C is",
		"a/a.go:18: exported var V1 is",
		"a/a.go:26: exported type T2 is",
		"a/a.go:28: exported method G1.Generic is",
		"a/a.go:30: exported function Directive is",
		"a/a.go:1: package a has no package comment",
	)
}
