package interop

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A grant is a time in which a contender held a mutex. From and Until are readings of a
// clock that all contenders share, both taken while the mutex was held.
type grant struct {
	Who   string
	Node  string
	From  int64
	Until int64
}

// sequence is the sequence number of the grant's node.
func (g grant) sequence() string { return g.Node[strings.LastIndex(g.Node, "lock-")+len("lock-"):] }

// requireExclusive checks that no two grants overlap, and that they came in the order
// of the znodes. It sorts them.
func requireExclusive(t *testing.T, grants []grant) {
	t.Helper()
	require.NotEmpty(t, grants)
	slices.SortFunc(grants, func(a, b grant) int { return cmp.Compare(a.From, b.From) })
	for i, g := range grants[1:] {
		before := grants[i]
		require.Greater(t, g.From, before.Until, "two at once: %+v and %+v", before, g)
		require.Greater(t, g.sequence(), before.sequence(), "not in the order of the znodes: %+v, then %+v", before, g)
	}
}
