package integration

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/internal/proof/doctest"
)

// The Go blocks of README.md compile.
func TestReadmeCompiles(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	found, blocks, err := doctest.GoBlocks(t.Context(), ".", []doctest.Page{doctest.NewPage("README.md", string(text))})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Positive(t, blocks)
}
