package framework_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// An operation that stands for several counts as one: for the caller, in the results
// and in the error.
func TestMultiWithAnOperationThatStandsForSeveral(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		c := connect(t, server)
		ctx := t.Context()
		create := func(path string) framework.Op { return framework.CreateOp(path, nil, framework.Persistent) }
		exists := func(path string) framework.Op { return kit.Of(c).CheckExists(path, nil) }
		all := kit.Of(c).AllOf

		results, err := c.Multi(ctx, create("/a"), all(create("/b"), all(), all(create("/c"), exists("/a"))), all(), create("/d"))
		require.NoError(t, err)
		require.Len(t, results, 4)
		assert.Equal(t, "/a", results[0].Path)
		assert.Equal(t, "/d", results[3].Path)
		for _, path := range []string{"/a", "/b", "/c", "/d"} {
			_, ok := server.Node(path)
			assert.True(t, ok, path)
		}

		for name, several := range map[string]framework.Op{
			"first":  all(exists("/none"), exists("/a"), exists("/b")),
			"second": all(exists("/a"), exists("/none"), exists("/b")),
			"last":   all(exists("/a"), all(exists("/b"), exists("/none"))),
		} {
			results, err = c.Multi(ctx, create("/e"), several, create("/f"))
			var multi *framework.MultiError
			require.ErrorAs(t, err, &multi, name)
			assert.Equal(t, 1, multi.Index, name)
			assert.ErrorContains(t, err, "/none", name)
			require.Len(t, results, 3, name)
			assert.NoError(t, results[0].Err, name)
			assert.ErrorIs(t, results[1].Err, framework.ErrNoNode, name)
			assert.ErrorIs(t, results[2].Err, framework.ErrNotTried, name)
			_, ok := server.Node("/e")
			assert.False(t, ok, name)
		}

		here := all(exists("/a"), kit.Of(c).CheckExists("/b", (&lapse{err: framework.ErrNoNode}).unless))
		results, err = c.Multi(ctx, create("/e"), here, create("/f"))
		require.ErrorIs(t, err, framework.ErrNoNode)
		require.Len(t, results, 3)
		assert.ErrorContains(t, results[1].Err, "the lease is over")
		assert.ErrorIs(t, results[2].Err, framework.ErrNotTried)

		_, err = c.Multi(ctx, create("/e"), all(exists("/a"), exists("no path")))
		var multi *framework.MultiError
		require.ErrorAs(t, err, &multi)
		require.ErrorIs(t, err, framework.ErrInvalidPath)
		assert.Equal(t, 1, multi.Index)
	})
}
