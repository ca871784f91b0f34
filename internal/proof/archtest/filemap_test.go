package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

// mapped are the folders of which the map must name every file.
var mapped = []string{"framework", "retry", "recipes", "inspect", "cmd", "internal"}

// The file map of ARCHITECTURE.md names every shipped file, none twice (as after a
// merge), and none that does not exist.
func TestFileMapIsOfThisModule(t *testing.T) {
	seen := filesOfTheMap(t)
	for _, folder := range mapped {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d os.DirEntry, err error) error {
			proof := strings.Contains(path, "/internal/proof/")
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !proof {
				assert.True(t, seen[path] || d.Name() == "doc.go", "%s is not named in the file map of ARCHITECTURE.md", path)
			}
			return err
		})
		require.NoError(t, err)
	}
}

func filesOfTheMap(t *testing.T) map[string]bool {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "\n## File map\n")
	require.True(t, found)
	fileMap, _, _ := strings.Cut(rest, "\n## ")
	dir, seen := "", map[string]bool{}
	for _, name := range regexp.MustCompile("`([a-z0-9_/]+/|[a-z0-9_]+[.]go)`").FindAllStringSubmatch(fileMap, -1) {
		if strings.HasSuffix(name[1], "/") {
			dir = name[1]
			continue
		}
		if dir == "" { // in the words before the first folder
			continue
		}
		path := filepath.Join(root, dir, name[1])
		assert.FileExists(t, path)
		assert.False(t, seen[path], "%s is named twice", path)
		seen[path] = true
	}
	return seen
}
