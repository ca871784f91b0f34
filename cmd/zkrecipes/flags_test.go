//go:build unix

package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func TestUsageErrors(t *testing.T) {
	withServers := []string{envServers + "=127.0.0.1:1"}
	for _, test := range []struct {
		args string // separated by spaces
		env  []string
		says string
	}{
		{"start", nil, `there is no command "start"`},
		{"help me", nil, `no help on "me"; there are run, elect, hold, ls`},
		{"revok", nil, `there is no command "revok"; did you mean "revoke"?`},
		{"hlep revoke", nil, `did you mean "help"?`},
		{"help elects", nil, `there is no help on "elects"; did you mean "elect"?`},
		{"l", nil, `there is no command "l"; there are run, elect, hold, ls`},
		{"foo", nil, `there is no command "foo"; there are run, elect`}, // "top" is not near enough
		{"version 2", nil, "takes no arguments"},

		{"run", withServers, "as in: zkrecipes run /locks/backup -- COMMAND"},
		{"run --lock /l", withServers, "no command"},
		{"run --lock /l --", withServers, "no command"},
		{"run -- true", withServers, "no lock"},
		{"run --lock l -- true", withServers, "does not begin with a slash"},
		{"run --lock / -- true", withServers, "a node of its own"},
		{"run --lock /l/ -- true", withServers, "ends with a slash"},
		{"run --lock /l -- true", nil, "no servers"},
		{"run --lock /l --servers zk1:port -- true", nil, "--servers"},
		{"run --lock /l --servers zk://zk1:2181 -- true", nil, "--servers: an address has no scheme"},
		{"run --lock /l --servers me:hunter2@zk1 -- true", nil, envAuth + " is for those"},
		{"run --lock /l --servers zk1//x -- true", nil, "empty element"},
		{"run --lock /l --locks /m -- true", withServers, "there is no flag --locks"},
		{"run --lock", withServers, "--lock needs a value"},
		{"run ---lock /l", withServers, `"---lock" is not a flag`},
		{"run --lock /l --=x -- true", withServers, `"--=x" is not a flag`},
		{"run --label --nope --lock /l --timeout x -- true", withServers, "number with a unit"},
		{"testserver --port 65536", nil, "not between 0 and 65535"},
		{"testserver --port x", nil, "not a whole number"},
		{"testserver 2181", nil, "takes flags only"},
		{"ls /l --tls=perhaps", withServers, `--tls "perhaps": neither true nor false`},
		{"ls /l --json=perhaps", withServers, `--json "perhaps": neither true nor false`},
		{"run --lock /l --timeout 30 -- true", withServers, "number with a unit"},
		{"run --lock /l --timeout -1s -- true", withServers, "must not be negative"},
		{"run --lock /l --timeout 0 -- true", withServers, "--try"},
		{"run --lock /l --timeout 1s --try -- true", withServers, "contradict"},
		{"run --lock /l --conflict-exit-code 256 -- true", withServers, "between 0 and 255"},
		{"run --lock /l --session-timeout 1ms -- true", withServers, "--session-timeout"},
		{"run --lock /l --grace 4s -- true", withServers, "at most a quarter of it, 3.75s"},
		{"run --lock /l --auth-file /no/such/file -- true", withServers, "no such file"},
		{"run --lock /l -- true", append(withServers, envAuth+"=hunter2"), "SCHEME:SECRET"},

		{"run --lock /l --shared --permits 3 -- true", withServers, "--shared and --permits contradict"},
		{"run --lock /l --shared --write -- true", withServers, "--shared and --write contradict"},
		{"run --lock /l --write --permits 3 -- true", withServers, "--write and --permits contradict"},
		{"run --lock /l --lock /m --permits 3 -- true", withServers, "--permits with several paths"},
		{"run --lock /l --stripes 0 -- true", withServers, "at least one stripe, and at most 1024"},
		{"run --lock /l --stripes 1025 -- true", withServers, "at least one stripe, and at most 1024"},
		{"run --lock /l --stripes x -- true", withServers, `--stripes "x": not a whole number`},
		{"run --lock /l --key k -- true", withServers, "--key without --stripes"},
		{"run --lock /l --stripes 4 --key= -- true", withServers, "--key is empty"},
		{"run --lock /l --stripes 4 --shared -- true", withServers, "--shared and --stripes contradict"},
		{"run --lock /l --stripes 4 --write -- true", withServers, "--write and --stripes contradict"},
		{"run --lock /l --stripes 4 --permits 4 -- true", withServers, "--permits and --stripes contradict"},
		{"run --lock /l --lock /m --stripes 4 -- true", withServers, "--stripes with several paths"},
		{"run --once /j -- true", withServers, "--once without --key or --tick"},
		{"run --once /j --key= -- true", withServers, "--key is empty"},
		{"run --once /j --key k --tick 5m -- true", withServers, "--key and --tick contradict"},
		{"run --once /j --tick 0 -- true", withServers, "--tick 0s is shorter than 1s"},
		{"run --once /j --tick 999ms -- true", withServers, "--tick 999ms is shorter than 1s"},
		{"run --once /j --tick 5 -- true", withServers, "number with a unit"},
		{"run --once /j --key k --retention 59s -- true", withServers, "--retention 59s is shorter than 1m0s"},
		{"run --once /j --tick 24h --retention 23h -- true", withServers, "--retention 23h0m0s is shorter than --tick 24h0m0s"},
		{"run --once /j --key k --lock /l -- true", withServers, "--lock and --once contradict"},
		{"run --once /j --key k --once /i -- true", withServers, "--once is given twice"},
		{"run --once /j --key k --stripes 4 -- true", withServers, "--once and --shared, --write, --permits or --stripes contradict"},
		{"run --once /j --key k --permits 4 -- true", withServers, "--once and --shared"},
		{"run --once /j --key k --shared -- true", withServers, "--once and --shared"},
		{"run --once /j --key k --write -- true", withServers, "--once and --shared"},
		{"run --lock /l --tick 5m -- true", withServers, "--tick without --once"},
		{"run --lock /l --retention 5m -- true", withServers, "--retention without --once"},
		{"run --once= --key k -- true", withServers, "a path is empty"},
		{"run --once j --key k -- true", withServers, "does not begin with a slash"},
		{"run --once / --key k -- true", withServers, "a node of its own"},
		{"run --once /j --key k", withServers, "no command"},
		{"run --once /j --key k --try --timeout 1s -- true", withServers, "contradict"},
		{"run --once /j --key k -- true", nil, "no servers"},
		{"run --lock /l --lock /m/ -- true", withServers, "ends with a slash"},
		{"run --lock /l --lock / -- true", withServers, "a node of its own"},
		{"run --lock /l --lock= -- true", withServers, "a path is empty"},
		{"run --lock /l --lock /m", withServers, "zkrecipes run /l -- /m"},
		{"run --lock /l/m --lock /n --lock=/l/m -- true", withServers, "the path /l/m is given twice"},
		{"run --lock /l/m --lock /l//m -- true", withServers, "empty element"},
		{"run --lock /l/m --lock /l/./m -- true", withServers, "relative"},
		{"run --lock /l --permits 0 -- true", withServers, "at least one permit"},
		{"run --lock /l --permits -1 -- true", withServers, "at least one permit"},
		{"run --lock /l --permits x -- true", withServers, `--permits "x": not a whole number`},
		{"run --lock /l --permits 3000000000 -- true", withServers, "--permits"},
		{"run --lock /l --permits stored:0 -- true", withServers, `not a whole number, "stored" or "stored:N"`},
		{"run --lock /l --permits stored: -- true", withServers, `not a whole number, "stored" or "stored:N"`},
		{"run --lock /l --permits stored:-1 -- true", withServers, "at least one permit"},
		{"run --lock /l --kill-after 0 -- true", withServers, "leaves no time to end"},
		{"run --lock /l --max-hold 2s -- true", withServers, "leaves no time"},
		{"run --lock /l --max-hold 1s --grace 1s -- true", withServers, "leaves no time"},
		{"run --lock /l --max-hold 0s -- true", withServers, "leaves no time"},
		{"run --lock /l --max-hold 1m --min-hold 61s -- true", withServers, "run: --min-hold 1m1s is longer than --max-hold 1m0s"},
		{"run --lock /l --min-hold -1s -- true", withServers, "must not be negative"},
		{"run --lock /l --min-hold 5 -- true", withServers, "number with a unit"},
		{"run --lock /l --lock-delay -1s -- true", withServers, "must not be negative"},
		{"run --lock /l --lock-delay soon -- true", withServers, "number with a unit"},
		{"run --once /j --key k --min-hold 1m -- true", withServers, "--once and --min-hold contradict"},

		{"elect", withServers, "no election: give PATH, as in: zkrecipes elect /elections/scheduler -- COMMAND"},
		{"elect --path /e", withServers, "no command"},
		{"elect /e true", withServers, `what is "true"? COMMAND stands behind --`},
		{"elect --path /e --id \xff -- true", withServers, "UTF-8"},
		{"elect --path / -- true", withServers, "a node of its own"},
		{"elect --path e -- true", withServers, "does not begin with a slash"},
		{"elect --path /e --lock /l -- true", withServers, "there is no flag --lock"},
		{"elect --path /e --max-hold 1ms -- true", withServers, "leaves no time"},
		{"elect --path /e --max-hold 1m --min-hold 2m -- true", withServers, "elect: --min-hold 2m0s is longer than --max-hold 1m0s"},
		{"elect --path /e --lock-delay 5 -- true", withServers, "number with a unit"},
		{"ls /l --lock-delay 5s", withServers, "there is no flag --lock-delay"},
		{"revoke /l --min-hold 5s", withServers, "there is no flag --min-hold"},
		{"elect --path /e -- true", nil, "no servers"},
		{"elect --path /e --timeout 0 -- true", withServers, "--timeout 0 leaves no time"},
		{"ls /l --timeout 0s", withServers, "--timeout 0 leaves no time"},
		{"revoke /l --timeout 30", withServers, "number with a unit"},

		{"revoke", withServers, "no path"},
		{"revoke /", withServers, "a node of its own"},
		{"revoke /l /m", withServers, "only one path"},
		{"revoke /l --all --node x", withServers, "contradict"},
		{"revoke /l --successor db2 --node x", withServers, "--successor and --node or --all contradict"},
		{"revoke /l --all --successor db2", withServers, "--successor and --node or --all contradict"},
		{"revoke /l --successor=", withServers, "--successor is empty"},
		{"revoke /l --successor", withServers, "--successor needs a value"},
		{"revoke /l --successor a --successor b", withServers, "--successor is given twice"},
		{"revoke --successor db2", withServers, "no path"},
		{"revoke /l", nil, "no servers"},

		{"ls", withServers, "no path"},
		{"ls x", withServers, "does not begin with a slash"},
		{"ls /", withServers, "a node of its own"},
		{"ls /l /m", withServers, "only one path"},
		{"ls /l --joson", withServers, "there is no flag --joson"},
		{"ls /l", nil, "no servers"},
		{"ls --cycles x", withServers, "does not begin with a slash"},
		{"ls --cycles /l /m", withServers, "only one path"},
		{"ls --cycles --cycles", withServers, "--cycles is given twice"},
		{"ls --cycles", nil, "no servers"},
		{"revoke /l --cycles", withServers, "there is no flag --cycles"},
	} {
		code, stdout, stderr := invoke(t, test.env, strings.Fields(test.args)...)
		require.Equal(t, exitUsage, code, "%s: %s", test.args, stderr)
		require.Contains(t, stderr, test.says, test.args)
		require.Empty(t, stdout, test.args)
		require.NotContains(t, stderr, "hunter2")
	}
}

func TestAuthFileIsNotShown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "auth")
	require.NoError(t, os.WriteFile(file, []byte("# ours\n\ndigest:me:secret\nhunter2\n"), 0o600))
	code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"}, "run", "--lock", "/l", "--auth-file", file, "--", "true")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "line 4")
	require.NotContains(t, stderr, "hunter2")
	require.NotContains(t, stderr, "secret")
}

// With an empty file a lock would be open, although the caller wants a closed one.
func TestAuthFileWithoutCredentials(t *testing.T) {
	env := []string{envServers + "=127.0.0.1:1", envAuth + "=digest:me:hunter2"}
	for _, text := range []string{"", "# none\n\n"} {
		file := filepath.Join(t.TempDir(), "auth")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		code, _, stderr := invoke(t, env, "run", "--lock", "/l", "--auth-file", file, "--", os.Args[0])
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, file+": it contains no credentials")
	}
	for _, verb := range []string{"ls", "revoke"} {
		code, _, stderr := invoke(t, env, verb, "/l", "--auth-file", "")
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "--auth-file is empty")
	}
}

func TestCredentials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "auth")
	require.NoError(t, os.WriteFile(file, []byte(" digest:me:pass:word \n# not this one\n"), 0o600))
	c := connection{authFile: option[string]{file, true}}
	all, err := c.credentials([]framework.Credential{{Scheme: "digest", Secret: []byte("you:secret")}})
	require.NoError(t, err)
	require.Equal(t, []framework.Credential{
		{Scheme: "digest", Secret: []byte("you:secret")},
		{Scheme: "digest", Secret: []byte("me:pass:word")},
	}, all)
}

func TestAddresses(t *testing.T) {
	for _, test := range []struct{ servers, hosts, chroot string }{
		{"a:1,b:2", "a:1,b:2", ""},
		{"a/x/y", "a", "/x/y"},
		{"b:1/", "b:1", ""},
	} {
		c := connection{servers: test.servers}
		hosts, chroot, err := c.addresses()
		require.NoError(t, err)
		require.Equal(t, test.hosts, hosts)
		require.Equal(t, test.chroot, chroot)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}, {"help", "run"}, {"run", "--help"}, {"run", "-h"}, {"help", "ls"}, {"ls", "--help"}, {"ls", "/l", "--help"}, {"help", "elect"}, {"elect", "--help"}, {"help", "revoke"}, {"revoke", "/l", "-h"}, {"version", "--help"}} {
		code, stdout, stderr := invoke(t, nil, args...)
		require.Equal(t, 0, code, args)
		require.Empty(t, stderr, args)
		require.NotEmpty(t, stdout, args)
	}
	code, stdout, stderr := invoke(t, nil)
	require.Equal(t, exitUsage, code)
	require.Empty(t, stdout)
	require.Equal(t, helpOverview, stderr)
}

// The help must name every flag and every exit code, and its timeline must be what the
// program does.
func TestHelpIsComplete(t *testing.T) {
	job := []string{"--grace", "--kill-after", "--pid-namespace", "--max-hold", "--min-hold D", "--lock-delay D", "--ignore-revoke", "--json", "--quiet", envLockPath, envLockToken, envLockSession, envAncestors, " 75 ", " 76 ", " 126 ", " 127 ", "128+N"}
	all := []string{"--servers", "--session-timeout", "--timeout", "--auth-file", envServers, envAuth, "--tls ", "--tls-ca", "--tls-cert",
		"--tls-key", "--tls-server-name", "64 ", "69 ", "77 "}
	for topic, words := range map[string][]string{
		"run": append(job, envLockCount, numbered(envLockPath, 1), numbered(envLockToken, 2),
			`"cause"`, causeHeld, causeClosed, causeUnreachable, causeDenied, causeUsage, causeCommand, causeSignal, causeLost, causeOther,
			"--lock", "--shared", "--write", "--permits", "--stripes N", "--key KEY", envLockStripe, "--once PATH", "--tick D", "--retention D", envLockKey+" ", envLockTick+" ", "--timeout", "--try", "--label", "--conflict-exit-code",
			"  5 s", "7.5 s", "10 s", "15 s"),
		"elect":  append(job, "--path", "--id"),
		"ls":     {"--json", "lock_delays", "--cycles [PATH]", "waits_for", "unreadable", lease.KindMutex, lease.KindReader, lease.KindWriter, lease.KindSemaphore, lease.KindLeader},
		"revoke": {"--node", "--all", "--successor ID", "--force", "taken", "--json", " 1 no client", " 75 "},
		"resize": {"--json", "before", " 75 ", "128+N"},
	} {
		_, text, _ := invoke(t, nil, "help", topic)
		for _, word := range slices.Concat(all, words) {
			require.Contains(t, text, word, topic)
		}
	}
	for _, v := range verbs() {
		for line := range strings.SplitSeq(v.help, "\n") {
			require.LessOrEqual(t, len(line), 110, "%s: %s", v.name, line)
		}
		v.flags().VisitAll(func(f *flag.Flag) { require.Contains(t, v.help, "--"+f.Name, v.name) })
	}
	session := framework.DefaultSessionTimeout
	grace, err := graceOf(option[time.Duration]{}, session)
	require.NoError(t, err)
	require.Equal(t, 15*time.Second, session)
	require.Equal(t, 5*time.Second, session/2-grace)
	require.Equal(t, 15*time.Second, defaultConnectLimit)
}

func TestGrace(t *testing.T) {
	given := func(d time.Duration) option[time.Duration] { return option[time.Duration]{d, true} }
	for _, test := range []struct {
		asked   option[time.Duration]
		session time.Duration
		want    time.Duration // -1: refused
	}{
		{option[time.Duration]{}, 12 * time.Second, 2 * time.Second},
		{given(0), 12 * time.Second, 0},
		{given(3 * time.Second), 12 * time.Second, 3 * time.Second},
		{given(3*time.Second + 1), 12 * time.Second, -1},
	} {
		grace, err := graceOf(test.asked, test.session)
		if test.want < 0 {
			require.Equal(t, exitUsage, exitCode(err, exitConflict))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, test.want, grace)
	}
}
