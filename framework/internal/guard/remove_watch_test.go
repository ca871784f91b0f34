package guard

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// idle returns a function that chooses a watch, and records what becomes of it.
func (r *recorder) idle(path string, children bool) func() (IdleWatch, bool) {
	return func() (IdleWatch, bool) {
		r.add("chosen %s", path)
		return IdleWatch{Path: path, Children: children, Kept: func(always bool) { r.add("kept %s %v", path, always) }}, true
	}
}

func (r *recorder) wakes(g *Guard) { g.events.Wake = func() { r.add("wake") } }

// One watch is removed at a time. What the server answers decides whether it still has
// the watch.
func TestRemovingWatches(t *testing.T) {
	t.Parallel()
	for code, want := range map[int32]string{0: "wake", codeNoWatcher: "wake", codeUnimplemented: "kept /a true", codeNoAuth: "kept /a false", -127: "kept /a false"} {
		c := connected(t, answer(number(1), 5, code), answer(number(2), 6, 0))
		var r recorder
		r.wakes(c.guard)
		c.guard.RemoveWatch(r.idle("/a", false))
		c.guard.RemoveWatch(r.idle("/b", true))
		require.Equal(t, []string{"chosen /a"}, r.took(), "one at a time")
		readOne(t, c)
		require.Equal(t, []string{want}, r.took())
		c.guard.RemoveWatch(r.idle("/b", true))
		require.Equal(t, append(
			ask(number(1), OpRemoveWatches, append(text("/a"), 0, 0, 0, 2)...),
			ask(number(2), OpRemoveWatches, append(text("/b"), 0, 0, 0, 1)...)...), unwritten(c))
		require.ErrorIs(t, readAll(t, c), io.EOF)
		require.Equal(t, []string{"chosen /b", "wake"}, r.took())
		require.EqualValues(t, 6, c.guard.told.Load())
	}
}

// Nothing can be sent between the choice of the watch and the request: a read that sets
// the watch again comes behind it, or has been chosen against.
func TestAWatchIsChosenWhenNothingElseCanBeSent(t *testing.T) {
	t.Parallel()
	c := connected(t)
	c.guard.RemoveWatch(func() (IdleWatch, bool) {
		assert.False(t, c.order.TryLock())
		return IdleWatch{Path: "/a"}, true
	})
	require.Len(t, frames(t, unwritten(c)), 1)
	require.True(t, c.order.TryLock())
	c.order.Unlock()
}

// After a removal that was not sent, or whose connection has ended, the next may be.
func TestRemovingNoWatch(t *testing.T) {
	t.Parallel()
	c := connected(t)
	g := c.guard
	var r recorder
	r.wakes(g)
	g.RemoveWatch(func() (IdleWatch, bool) { return IdleWatch{}, false })
	require.Empty(t, unwritten(c))
	g.RemoveWatch(r.idle("/a", false))
	require.Len(t, frames(t, unwritten(c)), 1)
	require.NoError(t, c.Close())
	require.Equal(t, []string{"chosen /a", "wake"}, r.took(), "the end of the connection took the watch")
	g.RemoveWatch(r.idle("/b", false))
	require.Empty(t, r.took(), "there is no connection")

	next := again(t, g)
	r.took()
	unwritten(next)
	g.RemoveWatch(func() (IdleWatch, bool) {
		require.NoError(t, next.Close())
		return IdleWatch{Path: "/c", Kept: func(bool) { r.add("kept") }}, true
	})
	require.Empty(t, unwritten(next))
	require.Empty(t, r.took())
	require.False(t, next.removing.Load())

	next = again(t, g)
	xid := number(int(g.xids.Load()) + 1)
	next.read.Reset(bytes.NewReader(answer(xid, 5, codeNoWatcher)))
	r.took()
	g.RemoveWatch(r.idle("/d", true))
	readOne(t, next)
	require.Equal(t, []string{"chosen /d", "wake"}, r.took())
}
