package framework

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// A queued is a call that only waits.
type queued struct {
	code   int32
	parent string
	told   int
}

func (q *queued) joins() string              { return q.parent }
func (q *queued) operation() (int32, []byte) { return q.code, nil }
func (q *queued) follow(*signal.Signal)      {}
func (q *queued) giveBack()                  {}
func (q *queued) flight() *flight            { return &flight{} }
func (q *queued) Sent()                      { q.told++ }
func (q *queued) Answered(guard.Answer)      {}

// What is below a parent does not pass it: neither while that waits, nor in the moment
// between that and its place among the requests of the connection. This can be seen
// from inside only.
func TestNodesDoNotPassTheirParent(t *testing.T) {
	t.Parallel()
	g := &groups{limit: 1000, hangUps: new(atomic.Int32), parents: map[string]member{}, ahead: map[string]member{}}
	parent, node := &queued{code: guard.OpContainer, parent: "/p"}, &queued{code: guard.OpCreate, parent: "/p"}
	g.flights, g.calls = maxFlights, maxAlone
	require.True(t, g.send(parent))
	require.Equal(t, 1, parent.told, "it has its place in the queue")

	g.flights, g.calls = 0, 0
	g.mu.Lock()
	taken := g.next(false)
	g.mu.Unlock()
	require.Equal(t, []member{parent}, taken.members)
	require.True(t, g.send(node)) // without a connection
	assert.Equal(t, []member{node}, g.creates)

	g.mu.Lock()
	g.placed(parent)
	g.mu.Unlock()
	assert.Empty(t, g.ahead)
	require.True(t, g.withdraw(node))
	assert.Empty(t, g.parents)
	g.timer.Stop()

	g.flights, g.calls = maxFlights, maxAlone
	require.True(t, g.send(parent))
	require.True(t, g.send(node))
	require.True(t, g.withdraw(node))
	assert.Equal(t, map[string]member{"/p": parent}, g.ahead, "it still waits")
	require.True(t, g.withdraw(parent))
	assert.Empty(t, g.ahead)
	g.timer.Stop()
}
