//go:build unix

package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// fakeQueue is a recipe with a queue only.
func fakeQueue(path string, failed error, queue ...lease.Contender) recipe {
	return recipe{path: path, kind: lease.KindMutex, mustWait: anyContender, contenders: func(context.Context) ([]lease.Contender, error) {
		return queue, failed
	}}
}

// After a timeout of several locks the queues tell which of them is not free.
func TestExplanationOfATimeoutOfSeveralLocks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		client := w.Client("a")
		someone := lease.Contender{Node: "n", Session: 1, Holder: lease.Holder{Who: "someone"}}
		ours := lease.Contender{Node: "o", Session: client.Session().ID(), Holder: lease.Holder{Who: "ourselves"}}
		for _, test := range []struct {
			name   string
			at     string
			ahead  int
			queues []recipe
			says   string
		}{
			{"no time to list the first", "/a", -1, []recipe{fakeQueue("/a", nil, ours), fakeQueue("/b", nil, someone)}, "/b: not acquired in time, 1 ahead, held by someone"},
			{"no time to list the last", "/b", -1, []recipe{fakeQueue("/a", nil, someone), fakeQueue("/b", nil)}, "/a: not acquired in time, 1 ahead, held by someone"},
			{"nothing is held any more", "/b", -1, []recipe{fakeQueue("/a", nil), fakeQueue("/b", nil)}, "/b: not acquired in time (no time was left to list the queue; by now it is empty)"},
			{"others are of no interest", "/b", 1, []recipe{fakeQueue("/a", errFake), fakeQueue("/b", nil, someone)}, "/b: not acquired in time, 1 ahead, held by someone"},
			{"released just now", "/b", 1, []recipe{fakeQueue("/a", nil, someone), fakeQueue("/b", nil, ours)}, "/b: not acquired in time, 1 ahead (it was released just now)"},
		} {
			j := &job{jobFlags: &jobFlags{paths: pathList{"/b", "/a"}}, client: client, recipe: recipe{path: "/b", parts: test.queues}}
			err := j.explain(t.Context(), waitLimit{}, &lease.TimeoutError{Path: test.at, Ahead: test.ahead})
			require.EqualError(t, err, test.says, test.name)
			requireHeld(t, err)
		}
		require.NoError(t, client.Close())
	})
}

func TestPathsInMessages(t *testing.T) {
	for _, test := range []struct {
		paths            pathList
		all, either, are string
	}{
		{pathList{"/a"}, "/a", "/a", "is"},
		{pathList{"/a", "/b"}, "/a and /b", "/a or /b", "are"},
		{pathList{"/a", "/b", "/c"}, "/a, /b and /c", "/a, /b or /c", "are"},
	} {
		require.Equal(t, test.all, test.paths.String())
		require.Equal(t, test.either, test.paths.either())
		require.Equal(t, test.are, test.paths.are())
	}
}
