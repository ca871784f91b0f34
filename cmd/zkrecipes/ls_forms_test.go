//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// ordinary is a listing with usual names, and the long tokens of an old ensemble.
func ordinary() *listing {
	l := &listing{Lock: testLock, Exists: true, Semaphore: &permits{Size: 2, Known: true}}
	for i, state := range []string{"held", "held", "waiting"} {
		l.Queue = append(l.Queue, queueEntry{
			Position: i + 1, Kind: "semaphore", State: inspect.State(state), Token: 98784247808, Session: "0x1000003f2a50001",
			Who: "nightly", Host: fmt.Sprintf("db-%d.eu.example", i), PID: 4123456, Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Age: 3*86400 + 4*3600,
		})
	}
	return l
}

// With ordinary names all of a line is seen, and nothing shortened.
func TestOrdinaryTableFitsATerminal(t *testing.T) {
	on := page{columns: usualColumns, rows: usualRows}
	for _, wide := range []bool{false, true} {
		l := ordinary()
		if wide {
			l.Queue[0].Who, l.Queue[1].Host = strings.Repeat("東京", 40), "host-with-a-very-long-name.example.org"
		}
		text := l.text(asTable, on)
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, width(strings.TrimSuffix(line, "\n")), usualColumns, line)
		}
		require.Equal(t, wide, strings.Contains(text, cutMark), text)
		inFile := l.text(asTable, page{})
		require.NotContains(t, inFile, cutMark)
		require.Contains(t, inFile, l.Queue[0].Who)
		require.Contains(t, l.text(asWide, on), l.Queue[0].Who, "who asks for all gets it")
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		text, want string
		widest     int
	}{{"abcdef", "abcdef", 6}, {"abcdefg", "abcde…", 6}, {"東京東京", "東京…", 6}, {"東京東京", "東京東京", 8}, {"aé\u0301bcdef", "aé\u0301b…", 4}} {
		require.Equal(t, test.want, shorten(test.text, test.widest))
	}
	// What may be shortened is, down to a least width, the widest first.
	narrow := table{{"POS", "WHO", "HOST"}, {"1", strings.Repeat("w", 30), strings.Repeat("h", 20)}}
	narrow.fit(40, "WHO", "HOST")
	require.Equal(t, 40, 3+width(narrow[1][1])+width(narrow[1][2])+2*columnGap)
	require.InDelta(t, width(narrow[1][1]), width(narrow[1][2]), 1)
	narrow.fit(5, "WHO", "HOST")
	require.Equal(t, []string{"1", "wwwww…", "hhhhh…"}, narrow[1])
}

func TestShortAge(t *testing.T) {
	for age, want := range map[float64]string{0: "0s", 59.9: "59s", 60: "1m0s", 3599: "59m59s", 3600: "1h0m", 86399: "23h59m", 86400: "1d0h", 1e7: "115d17h"} {
		require.Equal(t, want, shortAge(age))
	}
}

// Colours only repeat what is said, and each ends where it began.
func TestColours(t *testing.T) {
	l := ordinary()
	on := page{columns: usualColumns, rows: usualRows, colour: true}
	coloured, plain := l.text(asTable, on), l.text(asTable, page{columns: usualColumns})
	require.Equal(t, plain, withoutColours(coloured))
	require.Contains(t, coloured, "\x1b[32mheld\x1b[0m ")
	require.Contains(t, coloured, "\x1b[33mwaiting\x1b[0m ")
}

func TestOutputFormats(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr()}
	outputs := map[string]string{}
	for _, flags := range []string{"", "--output table", "--output wide", "--output json", "--json", "--json --output json"} {
		code, stdout, stderr := invoke(t, env, append([]string{"ls", testLock}, strings.Fields(flags)...)...)
		require.Equal(t, 0, code, stderr)
		outputs[flags] = stdout
	}
	require.Equal(t, outputs[""], outputs["--output table"])
	require.Equal(t, outputs["--json"], outputs["--output json"])
	require.Equal(t, outputs["--json"], outputs["--json --output json"])
	for flags, says := range map[string]string{
		"--json --output wide":  "--json and --output wide contradict",
		"--output table --json": "--json and --output table contradict",
		"--output yaml":         `--output "yaml": is none of table, wide, json`,
		"--quiet --json":        "--quiet and --json contradict",
		"-q -o table":           "-q and -o contradict",
		"--quiet --watch":       "--quiet and --watch contradict",
		"--quiet --cycles":      "--quiet and --cycles contradict",
		"-rq":                   "-q and -r contradict",
		"--cycles --watch":      "--cycles and --watch contradict",
		"-r --limit 3":          "-r and --limit contradict",
		"--interval 1s":         "--interval is for --watch",
		"--watch --interval 0":  "--interval 0",
		"--limit -1":            "must not be negative",
	} {
		code, stdout, stderr := invoke(t, env, append([]string{"ls", testLock}, strings.Fields(flags)...)...)
		require.Equal(t, exitUsage, code, flags)
		require.Empty(t, stdout)
		require.Contains(t, stderr, says)
	}
}

// Every verb that only reads takes the same flags for its output.
func TestOutputOfAllThatRead(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	foreign(t, client, testLock, `{"who":"w","host":"h","pid":7}`)
	foreign(t, client, testLock, "")
	env := []string{envServers + "=" + server.Addr()}
	for _, args := range []string{"ls " + testLock, "show " + testLock, "top", "litter", "ls -r", "ls --cycles"} {
		output := func(flags string) string {
			code, stdout, stderr := invoke(t, env, strings.Fields(args+" "+flags)...)
			require.Equal(t, 0, code, "%s %s: %s", args, flags, stderr)
			return stdout
		}
		require.Equal(t, strings.Split(output(""), "\n")[0], strings.Split(output("-o table"), "\n")[0])
		require.True(t, json.Valid([]byte(output("-o json"))), args)
		require.True(t, json.Valid([]byte(output("--json"))), args)
		require.Equal(t, strings.HasPrefix(args, "ls /") || strings.HasPrefix(args, "show"), strings.Contains(output("-o wide"), "SINCE"), args)
		code, _, stderr := invoke(t, env, strings.Fields(args+" --json -o wide")...)
		require.Equal(t, exitUsage, code, args)
		require.Contains(t, stderr, "--json and -o wide contradict")
	}
	l := litterListing{Litter: []litter{{Path: "/a", Kind: inspect.LitterRecords, Since: &time.Time{}, Used: 99, Max: 100}}}
	require.Regexp(t, `^KIND +SINCE +AGE +USED +PATH\nrecords\? +0001-01-01T00:00:00Z +0s +99/100 +/a\n`, l.text(asWide))
}

// Who lists a folder of locks is told how to.
func TestFolderOfLocks(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	foreign(t, client, "/my locks/a", "")
	env := []string{envServers + "=" + server.Addr()}
	for _, verb := range []string{"ls", "show"} {
		_, stdout, _ := invoke(t, env, verb, "/my locks")
		require.Contains(t, stdout, "\nwhat is in use below it: zkrecipes ls --recursive '/my locks'\n")
		_, stdout, _ = invoke(t, env, verb, "/my locks/a")
		require.NotContains(t, stdout, "--recursive")
	}
	for _, path := range []string{"", "/"} {
		_, _, stderr := invoke(t, env, strings.Fields("ls "+path)...)
		require.Contains(t, stderr, "; for all that is in use: zkrecipes ls --recursive\n")
	}
}

func TestLimitOfAListing(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr()}
	client := connectClient(t, server)
	require.NoError(t, client.CreateParents(t.Context(), testLock+"/x"))
	const readers = usualLimit + 3
	for i := range readers {
		_, err := client.Create(t.Context(), fmt.Sprintf("%s/__READ__%010d", testLock, i), nil, framework.Ephemeral)
		require.NoError(t, err)
	}
	for flags, lines := range map[string]int{"": readers + 1, "--limit 0": readers + 1, "--limit 2": 4, "--limit 100": readers + 1} {
		code, stdout, stderr := invoke(t, env, append([]string{"ls", testLock}, strings.Fields(flags)...)...)
		require.Equal(t, 0, code, stderr)
		requireLines(t, lines, stdout)
		require.Equal(t, flags == "--limit 2", strings.Contains(stdout, "and 51 more, of which 51 hold (--limit 0 lists all)\n"))
	}
	_, stdout, _ := invoke(t, env, "ls", testLock, "--limit", "2", "--json")
	var l listing
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	require.Len(t, l.Queue, 2)
	require.Equal(t, readers-2, l.LeftOut)
	f := &lsFlags{}
	require.Equal(t, usualLimit, f.most(asTable, page{columns: 80}))
	require.Equal(t, math.MaxInt, f.most(asJSON, page{columns: 80}))
}

// The exit code says whether ls would say "is free".
func TestQuiet(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr()}
	quiet := func(want int, why string) {
		t.Helper()
		code, stdout, stderr := invoke(t, env, "ls", "--quiet", testLock)
		require.Equal(t, want, code, why)
		require.Empty(t, stdout)
		require.Empty(t, stderr)
		_, stdout, _ = invoke(t, env, "ls", testLock)
		require.Equal(t, want == 1, strings.Contains(stdout, " is free: "), stdout)
	}
	quiet(1, "there is no such node")
	for why, of := range map[string]func(c *framework.Client, path string) (lease.Acquirer, error){
		"a mutex": func(c *framework.Client, path string) (lease.Acquirer, error) { return mutex.New(c, path) },
		"a reader": func(c *framework.Client, path string) (lease.Acquirer, error) {
			l, err := rwlock.New(c, path)
			return l.Read(), err
		},
		"a semaphore with free permits": func(c *framework.Client, path string) (lease.Acquirer, error) { return semaphore.New(c, path, 3) },
		"stripes, others free": func(c *framework.Client, path string) (lease.Acquirer, error) {
			l, err := striped.New(c, path, 3)
			return l.For("x"), err
		},
		"a run under way": func(c *framework.Client, path string) (lease.Acquirer, error) {
			j, err := once.New(c, path)
			return j.Key("x"), err
		},
	} {
		server = zktest.NewServer(t)
		env = []string{envServers + "=" + server.Addr()}
		a, err := of(connectClient(t, server), testLock)
		require.NoError(t, err)
		held, err := a.Acquire(t.Context(), time.Minute)
		require.NoError(t, err)
		quiet(0, why)
		require.NoError(t, held.Release())
		quiet(1, why)
	}
	endUnclean(t, server, func(c *framework.Client) (lease.Acquirer, error) {
		return mutex.New(c, testLock+"/closed", mutex.WithLockDelay(lockDelayOfTests))
	})
	code, _, _ := invoke(t, env, "ls", "--quiet", testLock+"/closed")
	require.Equal(t, 0, code, "a lock-delay keeps it closed")

	code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"}, "ls", "--quiet", testLock, "--timeout", "50ms")
	require.Equal(t, exitUnavailable, code)
	require.NotEmpty(t, stderr, "why it is not known")
}

// Clients that come when twice the lock-delay has passed since the end was seen need
// not wait.
func TestWhenALockDelayIsOver(t *testing.T) {
	seen := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	delays := []inspect.LockDelay{{Delay: time.Minute}, {Delay: time.Minute, Ended: []inspect.Ended{{Seen: seen}}}}
	require.False(t, mayBeClosed(delays[:1], seen))
	require.True(t, mayBeClosed(delays, seen.Add(2*time.Minute-1)))
	require.False(t, mayBeClosed(delays, seen.Add(2*time.Minute)))
	delays[1].Ended = append(delays[1].Ended, inspect.Ended{})
	require.True(t, mayBeClosed(delays, seen.Add(time.Hour)), "the end of another one was not seen")
}
