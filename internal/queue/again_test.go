package queue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/znode"
)

func TestLooksTakeNodesInTurn(t *testing.T) {
	names := func(nodes string) (all []znode.Name) {
		for _, node := range nodes {
			all = append(all, znode.Name{Node: string(node)})
		}
		return all
	}
	require.Empty(t, batch(nil, 4))
	require.Equal(t, names("a"), batch(names("a"), 2))
	require.Equal(t, names("ab"), batch(names("ab"), 4))
	all := names("abcde")
	var seen []znode.Name
	for look := range 5 {
		seen = append(seen, batch(all, look*othersPerLook)...)
	}
	require.Equal(t, names("abcdeabcde"), seen)
}
