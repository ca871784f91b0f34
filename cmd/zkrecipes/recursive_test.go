//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// printed returns what a verb prints, and requires that it succeeds.
func printed(t *testing.T, server *zktest.Server, args ...string) string {
	t.Helper()
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr() + "/app"}, args...)
	require.Equal(t, 0, code, stderr)
	return stdout
}

// javaNode makes a node as Curator does, without data that say who made it.
func javaNode(t *testing.T, c *framework.Client, path string) {
	t.Helper()
	require.NoError(t, c.CreateParents(t.Context(), path))
	_, err := c.CreateProtected(t.Context(), path, []byte("10.0.0.1"), framework.EphemeralSequential)
	require.NoError(t, err)
}

func TestRecursiveListing(t *testing.T) {
	server := zktest.NewServer(t)
	a, b := connectClient(t, server), connectClient(t, server)
	foreign(t, a, "/app/locks/one two", `{"who":"a\u001b[2Jb","host":"h","pid":7}`)
	foreign(t, b, "/app/locks/one two", "")
	javaNode(t, a, "/app/limits/l/leases/lease-")
	javaNode(t, b, "/app/limits/l/leases/lease-")
	javaNode(t, b, "/app/limits/l/locks/lock-")
	javaNode(t, a, "/app/stripes/stripe-0003/lock-")
	javaNode(t, a, "/app/jobs/j/k.key/lock-")
	javaNode(t, a, "/app/limits/single/permits-2-")
	session := hexSession(a.Session().ID())
	lines := strings.Split(printed(t, server, "ls", "--recursive"), "\n")
	for i, want := range []string{
		"PATH KIND HOLD WAIT AGE WHO", "/jobs/j job 1 0 0s " + session, "/limits/l semaphore 2 1 0s " + session, "/limits/single semaphore ? 0 - -",
		`/locks/one\x20two mutex 1 1 0s a\x1b[2Jb`, "/stripes stripes 1 0 0s " + session, "",
	} {
		require.Regexp(t, strings.NewReplacer("0s", "[0-9]s", "?", `\?`, `\`, `\\`, "[2J", `\[2J`).Replace(want)+"$", strings.Join(strings.Fields(lines[i]), " "))
	}
	for _, path := range []string{"/locks", "/locks/one two"} {
		text := printed(t, server, "ls", "--recursive", path)
		require.Len(t, strings.Split(text, "\n"), 3, text)
	}
	require.Equal(t, "no locks in use below /none\n", printed(t, server, "ls", "/none", "--recursive"))

	var l recursiveListing
	require.NoError(t, json.Unmarshal([]byte(printed(t, server, "ls", "--json", "--recursive", "/")), &l))
	require.Equal(t, "/", l.Below)
	require.Len(t, l.Locks, 5)
	require.Equal(t, inspect.Semaphore, l.Locks[1].Recipe)
	require.NotNil(t, l.Locks[1].Granted)
	require.Equal(t, "/locks/one two", l.Locks[3].Lock)
	require.Equal(t, "a\x1b[2Jb", l.Locks[3].Holder.Who)
	require.Nil(t, l.Locks[3].Granted)
	require.Nil(t, l.Locks[2].Holder)
	require.Equal(t, 1, l.Locks[2].Unknown)
	require.JSONEq(t, `{"below": "/none", "locks": [], "unreadable": []}`, printed(t, server, "ls", "--recursive", "--json", "/none"))
}

// What may not be read is said: a node and all below it, or what a client says.
func TestRecursiveListingOfWhatMayNotBeRead(t *testing.T) {
	server := zktest.NewServer(t)
	secret, ok := parseCredential("digest:me:secret")
	require.True(t, ok)
	c := connectClient(t, server, secret)
	closed := framework.WithACL(framework.CreatorACL(framework.PermAll))
	require.NoError(t, c.CreateParents(t.Context(), "/app/l/x"))
	_, err := c.Create(t.Context(), "/app/closed", nil, framework.Persistent, closed)
	require.NoError(t, err)
	_, err = c.Create(t.Context(), "/app/l/lock-0000000000", nil, framework.Ephemeral, closed)
	require.NoError(t, err)
	text := printed(t, server, "ls", "--recursive")
	require.Regexp(t, `\n/l +mutex +1 +0 +- +-\nnot permitted to read, and left out \(2\): /closed, /l/lock-0000000000\n$`, text)
	require.Contains(t, printed(t, server, "top"), "left out (2): /closed,")
}

func TestRecursiveListingAndCyclesExcludeEachOther(t *testing.T) {
	code, _, stderr := invoke(t, nil, "ls", "--recursive", "--cycles", "--servers", "x:1")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "--recursive and --cycles")
	code, _, stderr = invoke(t, nil, "ls", "--recursive", "x", "--servers", "x:1")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "ls: ")
}

// Ordinary names fit into 80 columns.
func TestRecursiveListingFits80Columns(t *testing.T) {
	long := lockInUse{
		Lock: "/services/billing/locks/import", Kind: lease.KindSemaphore, Holding: 16, Waiting: 1000, Held: (90 * time.Minute).Seconds(),
		Waited: (59 * time.Minute).Seconds(), Holder: &contender{Who: "import"},
	}
	l := recursiveListing{Below: "/", Locks: []lockInUse{long}}
	f := &topFlags{limit: option[int]{value: 1}}
	for line := range strings.Lines(l.text(asTable, page{}) + newTopListing(f, &l).text(asTable, page{})) {
		require.LessOrEqual(t, len(line), 81, line)
	}
	// On a terminal long ones fit as well: of a path the end is left, of a name the
	// beginning.
	of := &l.Locks[0]
	of.Lock = "/服务/tenant-4711/eu-central-1/orders/nightly-reconciliation-of-payments"
	of.Holder.Who, of.Holder.Host = strings.Repeat("备份", 30), "db-1"
	on := page{columns: usualColumns, rows: usualRows}
	for _, text := range []string{l.text(asTable, on), newTopListing(f, &l).text(asTable, on)} {
		require.Regexp(t, `…\S*payments +semaphore`, text)
		require.Regexp(t, `[备份]…\n$`, text)
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, width(strings.TrimSuffix(line, "\n")), usualColumns, line)
		}
	}
	require.Equal(t, "/a/东…", shorten("/a/东京", 6))
	require.Equal(t, "…/京", shortenPath("/东/京", 4))
	for _, text := range []string{l.text(asWide, on), newTopListing(f, &l).text(asWide, on)} {
		require.NotContains(t, text, cutMark)
		require.Regexp(t, `WHO +HOST +PID +TOKEN +SESSION\n`, text)
		require.Contains(t, text, "  db-1  ")
	}
}
