package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/zktest"
	"go.uber.org/goleak"
)

// TestMain makes the program of the test the process that is stopped, if it was started
// as that.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--stopped") {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// printed is what the program prints after the name of the database.
const printed = `no lock: 8 sold of 3, 2 left, OVERSOLD
a lock: 3 sold of 3, 0 left
a lock, a holder stopped for longer than its session, its late write without the token: 2 sold of 1, 0 left, OVERSOLD
the same, its late write with the token, and so refused: 1 sold of 1, 0 left
`

func newServer(t *testing.T) *zktest.Server {
	return zktest.NewServer(t, zktest.WithTick(sessionTimeout/2))
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	var out bytes.Buffer
	require.NoError(t, program().Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	require.Regexp(t, `^SQLite 3\.[0-9.]+\n$`, cutLines(t, &out))
	for _, session := range server.Sessions() {
		// The process that goes on with an expired session may end while it asks for a new
		// one, which it then cannot close; it expires.
		require.Equal(t, sessionTimeout, session.Timeout, session)
	}
	for _, lock := range server.Children("/examples/sql") {
		require.Empty(t, server.Children("/examples/sql/"+lock))
	}
}

// cutLines returns what was printed before that.
func cutLines(t *testing.T, out *bytes.Buffer) string {
	t.Helper()
	t.Log(out.String())
	require.True(t, bytes.HasSuffix(out.Bytes(), []byte(printed)), out)
	return string(bytes.TrimSuffix(out.Bytes(), []byte(printed)))
}

// It starts its own servers.
func TestThrowaway(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, program().Start(t.Context(), []string{"--postgres", "throwaway"}, &out))
	require.Regexp(t, `^PostgreSQL [0-9.]+\n$`, cutLines(t, &out))
}

// The program runs twice at the same time in one database, and leaves nothing there.
func TestPostgresTwice(t *testing.T) {
	t.Parallel()
	postgres := throwawayFor(t)
	args := []string{"--servers", newServer(t).Addr(), "--postgres", postgres}
	var both sync.WaitGroup
	var outs [2]bytes.Buffer
	var errs [2]error
	for i := range outs {
		both.Go(func() { errs[i] = program().Start(t.Context(), args, &outs[i]) })
	}
	both.Wait()
	for i := range outs {
		require.NoError(t, errs[i])
		cutLines(t, &outs[i])
	}
	db, err := place{postgres: postgres, tables: "public"}.open()
	require.NoError(t, err)
	defer db.Close()
	var schemas int
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'examples%'`).Scan(&schemas))
	require.Zero(t, schemas)
}

// throwawayFor starts a PostgreSQL for a test, which fails if none is installed.
func throwawayFor(t *testing.T) string {
	t.Helper()
	postgres, stop, err := startThrowaway(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stop()) })
	return postgres
}

// What is wrong would be seen: too much sold, too little, and nothing shown.
func TestCheck(t *testing.T) {
	t.Parallel()
	require.NoError(t, tally{pieces: 3, sold: 3}.check(false))
	require.NoError(t, tally{pieces: 3, sold: 8, left: 2}.check(true))
	for _, wrong := range []tally{{3, 4, 0}, {3, 2, 1}, {3, 2, 0}, {3, 3, 1}} {
		require.Error(t, wrong.check(false), wrong)
	}
	require.Error(t, tally{pieces: 3, sold: 3}.check(true))
}

// A lock that is left out, and a token that is not compared, make the program fail; and
// so does a sale without both that is not oversold.
func TestMistakes(t *testing.T) {
	t.Parallel()
	p, db := newTables(t, "")
	all := acts([]string{newServer(t).Addr()}, p, db)
	for i, says := range []string{
		"no lock: not each piece is sold once: 8 sold of 3",
		"a lock: not oversold, although nothing prevents it: 3 sold of 3",
		"not each piece is sold once: 2 sold of 1",
		"not oversold, although nothing prevents it: 1 sold of 1",
	} {
		wrong := all[i]
		wrong.oversold = !wrong.oversold
		require.ErrorContains(t, play(t.Context(), db, []act{wrong}, io.Discard), says)
	}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, program().Start(t.Context(), []string{"--servers", "nonsense:port"}, io.Discard), "config.Servers")
	err := program().Start(t.Context(), []string{"--postgres", "host=127.0.0.1 port=1 password=secret connect_timeout=30"}, io.Discard)
	require.ErrorContains(t, err, "connection refused")
	require.NotContains(t, err.Error(), "secret")
	for _, wrong := range []string{"host=h password = secret port=x", "postgres://u:secret/x@h/db", "postgres://h/db?password=secret&port=x"} {
		err := program().Start(t.Context(), []string{"--postgres", wrong}, io.Discard)
		require.ErrorContains(t, err, "--postgres: neither a URL")
		require.NotContains(t, err.Error(), "secret")
	}
}
