package contend

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// littered is a system that has so many nodes at first, and leaves some of them.
type littered struct {
	open
	nodes, leaves int
}

func (l *littered) queued(string) (int, error) {
	l.nodes--
	return max(l.nodes, l.leaves), nil
}

func TestNodesThatAreLeft(t *testing.T) {
	left := func(s system) string { return (&contender{system: s, slots: &Slots{}}).answer("left path=/p") }
	require.Equal(t, "ok nodes=2 violations=0", left(&littered{nodes: 5, leaves: 2}))
	require.Equal(t, "ok nodes=0 violations=0", left(&littered{nodes: 3}), "they were on their way")
	require.Equal(t, "ok nodes=0 violations=0", left(open{}), "it cannot be known")
}
