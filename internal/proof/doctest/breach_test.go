package doctest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests in the files breach_* plant mistakes on small pages. They check that each
// is found at its place, and nothing else.

// small returns a repository of these pages, with some code.
func small(t *testing.T, pages map[string]string) *repository {
	t.Helper()
	files := fstest.MapFS{
		"Makefile":                              {Data: []byte("help: ## x\n\ntry:\n\tgo test $(BENCH)\n")},
		"recipes/a/a.go":                        {Data: []byte("package a\n\nfunc TestNone() {}\n")},
		"recipes/a_test.go":                     {Data: []byte("package a\n\nfunc TestA(t *testing.T) {\n\t_ = os.Getenv(\"ZKRECIPES_LONG\")\n}\n\nfunc Example() {}\n\nfunc ExampleT_M() {}\n\n// func TestC(\n")},
		".ci/run":                               {Data: []byte("ZKRECIPES_BACKEND=process make x\n")},
		".hidden/b_test.go":                     {Data: []byte("package b\n\nfunc TestHidden(t *testing.T) {}\n")},
		"contrib/x/go.mod":                      {Data: []byte("module x\n")},
		"contrib/x/x.go":                        {Data: []byte("package zkx\n\ntype Config struct{ Paths []string }\n\nfunc (c *Config) Check() {}\n\nfunc New() {}\n\nconst C = 1\n")},
		"contrib/x/x_test.go":                   {Data: []byte("package zkx_test\n\nfunc TestX(t *testing.T) {}\n")},
		"internal/proof/conformance/suite_a.go": {Data: []byte("package conformance\n\nvar rows = []string{\"a row\", \"another\"}\n")},
	}
	for name, text := range pages {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	r := &repository{files: files, pages: map[string]Page{}, api: map[string]*exported{}, source: readSource(t, files)}
	all, err := Pages(files)
	require.NoError(t, err)
	for _, p := range all {
		r.pages[p.Path] = p
	}
	maps.Copy(r.api, r.source.nested)
	r.metrics = readMetrics(r)
	return r
}

// expect compares what a check finds on one page with the beginnings of the problems.
func expect(t *testing.T, c check, r *repository, page string, seen int, want ...string) {
	t.Helper()
	require.Contains(t, r.pages, page)
	found, n := c(r, r.pages[page])
	assert.Equal(t, seen, n, "places that were looked at")
	expectProblems(t, found, want...)
}

func expectProblems(t *testing.T, found []Problem, want ...string) {
	t.Helper()
	slices.SortStableFunc(found, func(a, b Problem) int { return a.Line - b.Line })
	require.Len(t, found, len(want), "%v", found)
	for i, p := range found {
		assert.True(t, strings.HasPrefix(p.String(), want[i]), "got:  %s\nwant: %s...", p, want[i])
		assert.NotEmpty(t, p.Fix)
	}
}

func TestProblemsReadWell(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "docs/a.md:7: this is wrong; do that", Problem{"docs/a.md", 7, "this is wrong", "do that"}.String())
}

func TestPagesAreRead(t *testing.T) {
	t.Parallel()
	r := small(t, map[string]string{".x/no.md": "", ".github/x/no.yml": "", "testdata/no.md": "", "bin/no.md": "", "docs/yes.md": strings.Join([]string{
		"# Title with `code`",                            // 1
		"Text `one",                                      // 2
		"span` and ``two``.",                             // 3
		"",                                               // 4
		"1. An item",                                     // 5
		"   ```go other",                                 // 6
		"   x := `no span`",                              // 7
		"     y",                                         // 8
		"   ```",                                         // 9
		"",                                               // 10
		"| for | `here` | redis | |",                     // 11
		"|---|---|---|---|",                              // 12
		"| `a` | `b` \\| x | `c` | `d` |",                // 13
		"",                                               // 14
		"| all | of | it |",                              // 15
		"|---|---|---|",                                  // 16
		"| `e` | `f` | `g` |",                            // 17
		"<!-- go: var a int -->",                         // 18
		"<!-- go:",                                       // 19
		"var b int",                                      // 20
		"-->",                                            // 21
		"~~~text",                                        // 22
		"```", "~~~", "unbalanced ` here", "", "and `h`", // 23 to 27
		"```sh", "never closed", // 28
	}, "\n")})
	require.Len(t, r.pages, 1)
	p := r.pages["docs/yes.md"]
	assert.Equal(t, []Span{
		{"code", 1}, {"one span", 2}, {"two", 3}, {"here", 11}, {"b", 13}, {"d", 13}, {"e", 17}, {"f", 17}, {"g", 17}, {"h", 27},
	}, p.Spans())
	assert.Equal(t, []Block{
		{"go other", "x := `no span`\n  y", 7}, {"go", " var a int ", 18}, {"go", "\nvar b int\n", 19}, {"text", "```", 23}, {"sh", "never closed", 29},
	}, p.Blocks)
	assert.Equal(t, "`b` | x|`d`", p.Lines[12].Ours)
}
