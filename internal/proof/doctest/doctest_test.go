package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// above is the root of the repository.
const above = "../../.."

// A check finds problems on pages, and counts the places that it looked at.
type check func(r *repository, p Page) (problems []Problem, seen int)

// A repository is what pages are checked against.
type repository struct {
	files   fs.FS
	pages   map[string]Page
	api     map[string]*exported // by the name of a package
	source  *source
	metrics *metrics
}

// TestPages applies every check to every page. The log of changes may name what existed
// once: only its links are checked.
func TestPages(t *testing.T) {
	t.Parallel()
	r := thisRepository(t)
	for _, c := range []struct {
		name  string
		check check
		least int // it looks at more places than that
	}{
		{"links lead somewhere", checkLinks, 100},
		{"references are defined", checkReferences, 100},
		{"names of the API exist", checkNames, 150},
		{"metrics exist", checkMetrics, 60},
		{"tests exist", checkTests, 300},
		{"rows of the suites exist", checkRows, 30},
		{"make targets exist", checkMake, 15},
		{"files exist", checkFiles, 60},
		{"variables of tests exist", checkVariables, 15},
		{"lines wrap", checkWidth, 1500},
		{"commands have no comments", checkComments, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sum := 0
			for name, page := range r.pages {
				if name == "CHANGELOG.md" && c.name != "links lead somewhere" {
					continue
				}
				problems, seen := c.check(r, page)
				for _, p := range problems {
					t.Error(p)
				}
				sum += seen
			}
			assert.Greater(t, sum, c.least, "the check finds too little: is it still right?")
		})
	}
}

// TestGoBlocksCompile compiles all Go blocks that no nested module compiles.
func TestGoBlocksCompile(t *testing.T) {
	t.Parallel()
	all, err := Pages(os.DirFS(above))
	require.NoError(t, err)
	var pages []Page
	for _, p := range all {
		if !ofNestedModule(p) {
			pages = append(pages, p)
		} else if slices.ContainsFunc(p.Blocks, func(b Block) bool { return b.Info == "go" }) {
			test, err := os.ReadFile(filepath.Join(above, filepath.Dir(p.Path), "readme_test.go"))
			assert.True(t, err == nil && strings.Contains(string(test), "doctest.GoBlocks("), "%s: no test of its module compiles its Go blocks", p.Path)
		}
	}
	found, blocks, err := GoBlocks(t.Context(), above, pages)
	require.NoError(t, err)
	for _, p := range found {
		t.Error(p)
	}
	assert.Greater(t, blocks, 25)
}

// Each page for users is named on one that a reader finds.
func TestNoPageIsAnOrphan(t *testing.T) {
	t.Parallel()
	all, err := Pages(os.DirFS(above))
	require.NoError(t, err)
	r := &repository{pages: map[string]Page{}}
	for _, p := range all {
		r.pages[p.Path] = p
	}
	for _, p := range checkOrphans(r) {
		t.Error(p)
	}
}
