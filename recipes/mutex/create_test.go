package mutex_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// Nothing of the caller's names ends up in a node's name.
func TestNodeNamesAreCurators(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newMutex(t, w.Client("a"), mutex.WithHolder("/strange name/")))
		require.Equal(t, 1, strings.Count(held.Path()[len(path):], "/"))
		require.True(t, strings.HasSuffix(held.Path(), "-lock-0000000000"))
	})
}
