package integration

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/internal/proof/doctest"
)

// readPage returns the Markdown file with this name.
func readPage(t *testing.T, name string) (page doctest.Page, text string) {
	t.Helper()
	read, err := os.ReadFile(name)
	require.NoError(t, err)
	return doctest.NewPage(name, string(read)), string(read)
}

// The Go blocks of README.md compile.
func TestReadmeCompiles(t *testing.T) {
	page, _ := readPage(t, "README.md")
	found, blocks, err := doctest.GoBlocks(t.Context(), ".", []doctest.Page{page})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Positive(t, blocks)
}
