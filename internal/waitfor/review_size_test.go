package waitfor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// All holders of one semaphore wait for a further permit: each waits for all of them.
// How long it takes to choose one of the cycles does not grow with their number cubed,
// which would be most of a minute.
func TestOneCycleOfVeryMany(t *testing.T) {
	const n = 2000
	q := &Queue{Size: n}
	for i := range n {
		q.Contenders = append(q.Contenders, &Contender{ID: i, Takes: 1, Needs: 1})
	}
	for i := range n {
		q.Contenders = append(q.Contenders, &Contender{ID: n + i, Waits: true, Takes: 1, Needs: 1, Owns: q.Contenders[i : i+1 : i+1]})
	}
	began := time.Now()
	Reduce([]*Queue{q})
	found := Components([]*Queue{q}, func(*Contender) bool { return false })
	require.Len(t, found, 1)
	require.Len(t, found[0].Cycle, 4)
	require.Less(t, time.Since(began), 15*time.Second)
}
