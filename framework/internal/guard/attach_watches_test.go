package guard

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// Servers limit the size of requests. Each watch is set once and as its kind, however
// many there are and however long their paths.
func TestWatchesAreSetInRequestsOfLimitedSize(t *testing.T) {
	t.Parallel()
	const zxid = 0x0102030405060708
	for name, c := range map[string]struct{ many, length, requests int }{
		"none":          {0, 10, 0},
		"few":           {5, 10, 1},
		"many":          {20_000, 30, 20},
		"long ones":     {10, 60_000, 15},
		"too long ones": {3, 200_000, 9},
	} {
		paths := func(kind string) (all []string) {
			for i := range c.many {
				all = append(all, fmt.Sprintf("/%s%d%s", kind, i, strings.Repeat("x", c.length-8)))
			}
			return all
		}
		want := [...][]string{paths("d"), paths("m"), paths("c")}
		for _, w := range []Watched{{want[0], want[1], want[2]}, {Missing: want[1]}, {Children: want[2]}, {Data: want[0], Children: want[2]}} {
			requests := watchesRequests(zxid, Watched{slices.Clone(w.Data), slices.Clone(w.Missing), slices.Clone(w.Children)})
			var got [3][]string
			for i, frame := range requests {
				d := jute.NewDecoder(frame)
				require.EqualValues(t, len(frame)-frameHeader, d.Int32(), name)
				require.EqualValues(t, xidFirst, d.Int32(), name)
				require.EqualValues(t, OpSetWatches, d.Int32(), name)
				require.EqualValues(t, zxid, d.Int64(), name)
				for kind := range got {
					got[kind] = append(got[kind], d.Strings()...)
				}
				require.NoError(t, d.Err(), name)
				require.Empty(t, d.Rest(), name)
				require.LessOrEqual(t, len(frame), watchesBytes+4+c.length+12, name)
				if i < len(requests)-1 {
					require.Greater(t, len(frame), watchesBytes-12, "%s: it has room for more", name)
				}
			}
			require.Equal(t, [...][]string{w.Data, w.Missing, w.Children}, got, name)
			if len(w.Data) > 0 && len(w.Missing) > 0 || c.many == 0 {
				require.LessOrEqual(t, len(requests), max(c.requests, c.many*c.length*3/watchesBytes+1), name)
			}
		}
	}
}

// Several requests to set watches are sent one after the other: each when the one
// before is answered. Other requests may be sent when the last one is.
func TestSeveralRequestsToSetWatches(t *testing.T) {
	t.Parallel()
	request, reply := connectFrames(17)
	for refused := range 3 {
		c := scripted(reply)
		var r recorder
		r.listen(c.guard)
		paths := []string{"/a" + strings.Repeat("x", watchesBytes), "/b" + strings.Repeat("x", watchesBytes), "/c"}
		c.guard.events.Watched = func() Watched { return Watched{Missing: paths} }
		greet(t, c)
		sent := frames(t, unwritten(c))
		require.Equal(t, request, sent[0])
		require.Len(t, sent, 2, "the connect request, and the first one")
		answers := []int32{0, 0, 0}
		answers[refused] = codeUnimplemented
		var says []byte
		for _, code := range answers {
			says = append(says, answer(xidFirst, 5, code)...)
		}
		c.read.Reset(strings.NewReader(string(says)))
		for i := range answers {
			require.NotContains(t, r.took(), "attached")
			readOne(t, c)
			if i == refused { // the others are of no use
				require.Equal(t, []string{"watches lost", "attached"}, r.took())
				require.Empty(t, unwritten(c))
				break
			}
			require.Len(t, frames(t, unwritten(c)), min(1, len(answers)-1-i))
		}
	}
}

// A request that was meant for the connection before may be answered between two that
// set watches. The events of the watches that are not set yet have not come.
func TestAnswersBeforeAllWatchesAreSetDoNotCount(t *testing.T) {
	t.Parallel()
	_, reply := connectFrames(17)
	c := scripted(append(reply, answer(number(1), 10, 0)...))
	var r recorder
	r.listen(c.guard)
	r.wakes(c.guard)
	paths := []string{"/a" + strings.Repeat("x", watchesBytes), "/b"}
	var w Watched
	c.guard.events.Watched = func() Watched { return w }
	greet(t, c)
	c.guard.RemoveWatch(r.idle("/z", false)) // so that told is 10
	readOne(t, c)
	require.EqualValues(t, 10, c.guard.told.Load())
	require.NoError(t, c.Close())

	w = Watched{Data: paths}
	next := again(t, c.guard)
	// supervise has seen the gate open over the connection before
	c.guard.RemoveWatch(r.idle("/y", false))
	next.read.Reset(bytes.NewReader(append(answer(xidFirst, 50, 0), answer(number(2), 50, 0)...)))
	readOne(t, next)
	readOne(t, next)
	require.NoError(t, next.Close()) // /b was never set
	require.EqualValues(t, 10, c.guard.told.Load(), "the second SetWatches was never answered")
}
