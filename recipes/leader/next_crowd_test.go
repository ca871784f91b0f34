package leader_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// All candidates of a client step back, also those that stand behind the front of its
// crowd, and more than one transaction can ask.
func TestNextPassesACrowd(t *testing.T) {
	conformance.InWorld(t, nextPassesACrowd)
}

func nextPassesACrowd(t *testing.T, w *conformance.World) {
	q, c := newQueued(w, "a"), w.Client("crowd")
	crowd := make([]*conformance.Attempt, 150)
	for i := range crowd {
		crowd[i] = w.Start(newElection(t, c, fmt.Sprint(i)), lease.Forever)
	}
	q.waiting["z"] = w.Start(newElection(t, w.Client("z"), "z"), lease.Forever)
	w.After(time.Second)
	call := q.makeNext("z")
	w.After(100 * time.Millisecond)
	require.True(t, conformance.Closed(call.done))
	require.NoError(t, call.err)
	got := ids(t, q.operator)
	require.Len(t, got, 2+len(crowd))
	require.Equal(t, []string{"a", "z"}, got[:2])
	q.release("z")
	for _, id := range got[2:] {
		at, err := strconv.Atoi(id)
		require.NoError(t, err)
		require.NoError(t, crowd[at].Granted().Release())
	}
}
