package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	namedTest = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	namedRows = regexp.MustCompile(`every recipe: ("[^"]+"(?:, "[^"]+")*)`)
	testFunc  = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
)

// Every test and row that these documents name exists.
func TestGuaranteesNameTestsThatExist(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	written, suite := writtenTests(t, root), conformanceSuite(t, root)
	for _, doc := range []struct {
		name        string
		tests, rows int // there are more
	}{{"guarantees.md", 60, 30}, {"performance.md", 8, 2}} {
		text, err := os.ReadFile(filepath.Join(root, "docs", doc.name))
		require.NoError(t, err)
		named := namedTest.FindAllSubmatch(text, -1)
		require.Greater(t, len(named), doc.tests, "the tests are named in backquotes")
		for _, name := range named {
			require.True(t, written[string(name[1])], "docs/%s names %s, which does not exist", doc.name, name[1])
		}
		namedOfSuite := namedRows.FindAllSubmatch(text, -1)
		require.Greater(t, len(namedOfSuite), doc.rows)
		for _, rows := range namedOfSuite {
			for row := range strings.SplitSeq(string(rows[1]), ", ") {
				require.Contains(t, suite, row, "docs/%s names a row that does not exist", doc.name)
			}
		}
	}
}

// writtenTests returns the names of all tests.
func writtenTests(t *testing.T, root string) map[string]bool {
	t.Helper()
	written := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range testFunc.FindAllSubmatch(text, -1) {
			written[string(found[1])] = true
		}
		return err
	})
	require.NoError(t, err)
	return written
}

// conformanceSuite returns the source of the conformance suite.
func conformanceSuite(t *testing.T, root string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal", "proof", "conformance", "suite*.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}
