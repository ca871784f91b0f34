package archtest

import (
	"fmt"
	"strings"
	"testing"
)

func TestShapeIsHeld(t *testing.T) {
	t.Parallel()
	long := "package a\n" + strings.Repeat("//\n", maxLines)
	found := checkShape(parse(t, sources{
		"a/long.go":            long,
		"a/long_test.go":       long,
		"a/just.go":            long[:len(long)-len("//\n")],
		"a/util.go":            "package a",
		"a/conn_helpers.go":    "package a",
		"a/base_test.go":       "package a",
		"a/database.go":        "package a",
		"a/utility.go":         "package a",
		"internal/common/x.go": "package x",
		"b/x.go":               "package manager",
	}))
	expect(t, found,
		`a/base_test.go:1: the name "base_test.go" says nothing`,
		`a/conn_helpers.go:1: the name "conn_helpers.go" says nothing`,
		fmt.Sprintf("a/long.go:%d: file has %[1]d lines, the limit is %d", maxLines+1, maxLines),
		`a/util.go:1: the name "util.go" says nothing`,
		`b/x.go:1: the name "manager" says nothing`,
		`internal/common/x.go:1: the folder name "common" says nothing`,
	)
}

func TestLongFunctionsAreFew(t *testing.T) {
	t.Parallel()
	function := func(name string, lines int) string {
		return "func " + name + "() {\n" + strings.Repeat("\n", lines-2) + "}\n"
	}
	var short strings.Builder
	for i := range 17 {
		short.WriteString(function(fmt.Sprint("f", i), maxFunctionLines))
	}
	few := "package a\n" + short.String() + function("long", maxFunctionLines+1) + function("longer", maxFunctionLines+2)
	tests := "package a\n" + strings.Repeat(function("TestX", 2*maxFunctionLines), 10)
	expect(t, checkFunctions(parse(t, sources{"a/a.go": few, "a/a_test.go": tests, "internal/b/a.go": tests})))
	expect(t, checkFunctions(parse(t, sources{"a/a.go": few + function("longest", maxFunctionLines+5)})),
		fmt.Sprintf("a/a.go:%d: a tenth of all functions has %d lines or more, the limit is %d",
			2+17*maxFunctionLines+2*maxFunctionLines+3, maxFunctionLines+1, maxFunctionLines))
	expect(t, checkFunctions(parse(t, sources{"a/a.go": "package a"})))
}

func TestWideCommentsAreFound(t *testing.T) {
	t.Parallel()
	wide := func(used int) string { return "a " + strings.Repeat("ä", maxColumns-used-len("a ")) }
	found := checkComments(parse(t, sources{
		"a/a.go": "// " + wide(3) + "\n" +
			"// " + wide(2) + "\n" + // line 2: one too many
			"package a\n" +
			"//\t" + wide(2) + "\n" + // code
			"// " + strings.Repeat("x", maxColumns) + "\n" + // a link
			"//go:generate x" + wide(0) + "\n" +
			"func f() {\n" +
			"\t// " + wide(7) + "\n" +
			"\t// " + wide(6) + "\n" + // line 9
			"\tf() // " + wide(0) + "\n" +
			"}\n" +
			"var s = `\n// " + wide(0) + "\n`\n",
		"a/a_test.go": "package a\n//   - " + wide(6) + "\n// Output:\n// " + wide(0) + "\n",
	}))
	text := fmt.Sprintf("comment has %d columns, the limit is %d", maxColumns+1, maxColumns)
	expect(t, found, "a/a.go:2: "+text, "a/a.go:9: "+text, "a/a_test.go:2: "+text)
}
