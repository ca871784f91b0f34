package waitfor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// All holders of one semaphore wait for a further permit: each waits for all of them.
// How many of them are searched for the shortest cycle does not grow with their number.
func TestOneCycleOfVeryMany(t *testing.T) {
	const n = 300
	q := &Queue{Size: n}
	for i := range n {
		q.Contenders = append(q.Contenders, &Contender{ID: i, Takes: 1, Needs: 1})
	}
	for i := range n {
		q.Contenders = append(q.Contenders, &Contender{ID: n + i, Waits: true, Takes: 1, Needs: 1, Owns: q.Contenders[i : i+1 : i+1]})
	}
	Reduce([]*Queue{q})
	found := Components([]*Queue{q}, func(*Contender) bool { return false })
	require.Len(t, found, 1)
	require.Len(t, found[0].Cycle, 4)
	_, searches := shortest(found[0].Members)
	require.LessOrEqual(t, searches, 2*maxSearches)
}
