package main

import (
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/examples/internal/exampletest"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// TestMain makes the program of the test one of the processes, if it was started as
// one.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--bucket") {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

const printed = `^without a lock: 3 processes sent 18 parts for an artifact of 6, and finished it 3 times
with recipes/once, in [0-9ms]+: 3 processes, of which 3 were killed in the middle and started again
3 artifacts of 6 parts: begun ([6-9]|\d\d+) times, (19|[2-9]\d|\d{3,}) parts sent, and 18 stored, each once
3 objects, each finished once
late writes that were refused: [1-9]\d*
$`

// Each artifact is uploaded once, although each time the process that does it is
// killed.
func TestRun(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t, zktest.WithTick(sessionTimeout/2))
	var out bytes.Buffer
	require.NoError(t, program().Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	require.Regexp(t, printed, out.String())
	exampletest.RequireNoSessions(t, server)
	require.Empty(t, server.Children("/examples/upload"))
}

func TestOwnServer(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, program().Start(t.Context(), nil, &out))
	require.Regexp(t, printed, out.String())
}

// A store that does not compare tokens takes the late part of a process that was
// killed.
func TestLatePartIsSeen(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t, zktest.WithTick(sessionTimeout/2))
	s := newStore()
	s.ignore = true
	err := run(t.Context(), []string{server.Addr()}, s, io.Discard)
	require.Error(t, err)
	require.Regexp(t, `and (19|[2-9]\d) parts stored`, err.Error()) // more, if a process has lost a lease by itself
	exampletest.RequireNoSessions(t, server)
}

// The store refuses all that an earlier uploader sends after a later one has begun.
func TestStore(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newStore())
	defer server.Close()
	ctx, b, a := t.Context(), bucket(server.URL), reports[0]
	_, err := b.begin(ctx, a.name, 7)
	require.NoError(t, err)
	require.NoError(t, b.put(ctx, a.name, 0, a.parts[0], 7))
	require.ErrorContains(t, b.finish(ctx, a.name, 2, 7), "part 1 is missing")

	got, err := b.begin(ctx, a.name, 9)
	require.NoError(t, err)
	require.Equal(t, found{Parts: map[int]string{0: sum(a.parts[0])}}, got)
	require.ErrorIs(t, b.put(ctx, a.name, 1, a.parts[1], 7), errOldToken)
	require.ErrorIs(t, b.finish(ctx, a.name, 1, 7), errOldToken)
	_, err = b.begin(ctx, a.name, 7)
	require.ErrorIs(t, err, errOldToken)
	_, err = b.begin(ctx, "another", 7)
	require.NoError(t, err)
}

// What is missing or different is sent, and nothing else.
func TestSend(t *testing.T) {
	t.Parallel()
	s := newStore()
	server := httptest.NewServer(s)
	defer server.Close()
	ctx, u, a := t.Context(), &uploader{bucket: bucket(server.URL)}, reports[0]
	require.NoError(t, u.bucket.put(ctx, a.name, 1, a.parts[1], 1))
	require.NoError(t, u.bucket.put(ctx, a.name, 2, a.parts[1], 1))
	require.NoError(t, u.send(ctx, a, 2))
	require.Equal(t, 2+partsEach-1, s.object(a.name).requests)
	require.Equal(t, bytes.Join(a.parts, nil), s.object(a.name).whole)
	require.NoError(t, u.send(ctx, a, 3))
	require.Equal(t, 2+partsEach-1, s.object(a.name).requests)
	require.Equal(t, 1, s.object(a.name).finishes)
}

// What is wrong would be seen.
func TestCheck(t *testing.T) {
	t.Parallel()
	right := tally{requests: 19, stored: 18, begins: 6, finishes: 3, refused: 1, right: 3}
	require.NoError(t, right.check())
	for _, spoil := range []func(*tally){
		func(t *tally) { t.right-- }, func(t *tally) { t.stored++ }, func(t *tally) { t.finishes++ },
		func(t *tally) { t.begins-- }, func(t *tally) { t.refused = 0 },
	} {
		wrong := right
		spoil(&wrong)
		require.Error(t, wrong.check())
	}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, program().Start(t.Context(), []string{"--servers", "nonsense:port"}, &bytes.Buffer{}), "config.Servers")
}
