package queue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// The deletion of a node ahead admits without another listing if the policy admits
// without that node, and Recheck does not say that another may be in its position.
func TestDeletionThatAdmitsWithoutALook(t *testing.T) {
	t.Parallel()
	a, b, self := znode.Name{Node: "a"}, znode.Name{Node: "b"}, znode.Name{Node: "c"}
	q := &Queue{}
	require.True(t, q.admitsWithout(a, self, []znode.Name{a}, Exclusive))
	require.False(t, q.admitsWithout(b, self, []znode.Name{a, b}, Exclusive))
	q.Recheck = func(own, gone znode.Name) bool { return own == self && gone == a }
	require.False(t, q.admitsWithout(a, self, []znode.Name{a}, Exclusive))
	require.True(t, q.admitsWithout(b, self, []znode.Name{b}, Exclusive))
}
