package queue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/znode"
)

func TestTurnsOfThoseWaitedFor(t *testing.T) {
	names := func(nodes string) (all []znode.Name) {
		for _, node := range nodes {
			all = append(all, znode.Name{Node: string(node)})
		}
		return all
	}
	require.Empty(t, turn(nil, 4))
	require.Equal(t, names("a"), turn(names("a"), 2))
	require.Equal(t, names("ab"), turn(names("ab"), 4))
	all := names("abcde")
	var seen []znode.Name
	for look := range 5 {
		seen = append(seen, turn(all, look*othersPerLook)...)
	}
	require.Equal(t, names("abcdeabcde"), seen)
}
