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

// The file map of ARCHITECTURE.md names no file that does not exist, and none twice, as
// happens when two changes of one line are brought together.
func TestFileMapIsOfThisModule(t *testing.T) {
	page, err := os.ReadFile("../../../ARCHITECTURE.md")
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
		path := filepath.Join("..", "..", "..", dir, name[1])
		assert.FileExists(t, path)
		assert.False(t, seen[path], "%s is named twice", path)
		seen[path] = true
	}
	require.Greater(t, len(seen), 50)
}
