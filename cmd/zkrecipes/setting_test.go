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

	"github.com/zkrecipes/zkrecipes/zktest"
)

// configured writes a file for --config, and returns its name.
func configured(t *testing.T, lines ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "zk.conf")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return file
}

// parsedRun returns what a run is told by flags, the environment and a file.
func parsedRun(t *testing.T, args string, env, file []string) (*runFlags, error) {
	t.Helper()
	if file != nil {
		env = append(slices.Clone(env), "ZKRECIPES_CONFIG="+configured(t, file...))
	}
	p := &program{env: env}
	return p.parseRun(strings.Fields(args))
}

// The command line wins over the environment, and that over the file.
func TestPrecedence(t *testing.T) {
	for _, test := range []struct {
		args      string
		env, file []string
		want      time.Duration
		given     bool
	}{
		{"", nil, nil, 0, false},
		{"", nil, []string{"ZKRECIPES_TIMEOUT=3s"}, 3 * time.Second, true},
		{"", []string{"ZKRECIPES_TIMEOUT=2s"}, []string{"ZKRECIPES_TIMEOUT=3s"}, 2 * time.Second, true},
		{"--timeout 1s", []string{"ZKRECIPES_TIMEOUT=2s"}, []string{"ZKRECIPES_TIMEOUT=3s"}, time.Second, true},
		{"--timeout 1s", nil, []string{"ZKRECIPES_TIMEOUT=3s"}, time.Second, true},
		{"--timeout 1s", []string{"ZKRECIPES_TIMEOUT=soon"}, nil, time.Second, true},

		{"", []string{"ZKRECIPES_TIMEOUT="}, nil, 0, false}, // empty: not set
		{"", []string{"ZKRECIPES_TIMEOUT="}, []string{"ZKRECIPES_TIMEOUT=3s"}, 3 * time.Second, true},
		{"", []string{"ZKRECIPES_TIMEOUT=2s", "ZKRECIPES_TIMEOUT="}, nil, 0, false}, // the last one counts
		{"", []string{"ZKRECIPES_TIMEOUT=2s", "ZKRECIPES_TIMEOUT=1s"}, nil, time.Second, true},
		{"", []string{"ZKRECIPES_TIMEOUTS=2s", "ZKRECIPES_TIMEOUT_1=2s", "TIMEOUT=2s", "ZKRECIPES_timeout=2s"}, nil, 0, false},
	} {
		f, err := parsedRun(t, test.args+" /l -- true", test.env, test.file)
		require.NoError(t, err, "%+v", test)
		require.Equal(t, option[time.Duration]{test.want, test.given}, f.timeout, "%+v", test)
	}
}

// A flag makes zkrecipes ignore those that contradict it on a weaker level. On the same
// level they are a mistake.
func TestFlagsThatContradictEachOther(t *testing.T) {
	for _, test := range []struct {
		args      string
		env, file []string
		want      string // of the flags that are given, or the mistake
	}{
		{"/l --try", []string{"ZKRECIPES_TIMEOUT=30s"}, nil, "lock=/l try"},
		{"/l --timeout 30s", []string{"ZKRECIPES_TRY=true"}, nil, "lock=/l timeout=30s"},
		{"/l", []string{"ZKRECIPES_TRY=true"}, []string{"ZKRECIPES_TIMEOUT=30s"}, "lock=/l try"},
		{"/l", []string{"ZKRECIPES_TIMEOUT=30s"}, []string{"ZKRECIPES_TRY=true"}, "lock=/l timeout=30s"},
		{"/l", []string{"ZKRECIPES_TIMEOUT=30s", "ZKRECIPES_TRY=1"}, nil, "--try and --timeout contradict each other (--timeout is from ZKRECIPES_TIMEOUT, --try is from ZKRECIPES_TRY)"},
		{"/l --try --timeout 3s", []string{"ZKRECIPES_TIMEOUT=30s"}, nil, "--try and --timeout contradict each other"},

		// What is switched off contradicts nothing.
		{"/l --try=false", []string{"ZKRECIPES_TRY=true"}, []string{"ZKRECIPES_TIMEOUT=30s"}, "lock=/l timeout=30s"},
		{"/l --shared=false", []string{"ZKRECIPES_SHARED=true"}, nil, "lock=/l"},
		{"/l", []string{"ZKRECIPES_SHARED=false"}, []string{"ZKRECIPES_PERMITS=3"}, "lock=/l permits=3"},

		{"/l --permits 2", []string{"ZKRECIPES_SHARED=true"}, nil, "lock=/l permits=2"},
		{"/l --exclusive", []string{"ZKRECIPES_SHARED=true"}, []string{"ZKRECIPES_PERMITS=2"}, "exclusive lock=/l"},
		{"/l --exclusive", []string{"ZKRECIPES_WRITE=true"}, nil, "exclusive lock=/l write"},
		{"/l --exclusive", []string{"ZKRECIPES_STRIPES=2", "ZKRECIPES_KEY=k"}, nil, "exclusive lock=/l"},
		{"/l --exclusive --shared", nil, nil, "--exclusive and --shared contradict each other"},
		{"/l --exclusive --permits 2", nil, nil, "--exclusive and --permits contradict each other"},
		{"/l --exclusive --stripes 2", nil, nil, "--exclusive and --stripes contradict each other"},

		// A path is a lock, so it is not that of a job.
		{"/l", []string{"ZKRECIPES_ONCE=/j", "ZKRECIPES_TICK=5m", "ZKRECIPES_RETENTION=1h"}, nil, "lock=/l"},
		{"/l --stripes 4", []string{"ZKRECIPES_ONCE=/j"}, []string{"ZKRECIPES_KEY=k"}, "key=k lock=/l stripes=4"},
		{"--once /j --key k", []string{"ZKRECIPES_LOCK=/l", "ZKRECIPES_SHARED=true", "ZKRECIPES_MIN_HOLD=5m"}, nil, "key=k once=/j"},
		{"--once /j --tick 5m", []string{"ZKRECIPES_KEY=k"}, nil, "once=/j tick=5m"},
		// What is ignored does not make zkrecipes ignore others.
		{"/l", []string{"ZKRECIPES_ONCE=/j"}, []string{"ZKRECIPES_PERMITS=3"}, "lock=/l permits=3"},
		// Only what lost its use is ignored with it.
		{"/l", []string{"ZKRECIPES_KEY=k"}, nil, "--key without --stripes"},
		{"/l --key k", []string{"ZKRECIPES_STRIPES=4"}, nil, "key=k lock=/l stripes=4"},
	} {
		f := &runFlags{}
		fs := f.flagSet()
		env := slices.Clone(test.env)
		if test.file != nil {
			env = append(env, "ZKRECIPES_CONFIG="+configured(t, test.file...))
		}
		args := strings.Fields(test.args + " -- true")
		if _, err := parsedRun(t, test.args+" -- true", test.env, test.file); err != nil {
			code, _, stderr := invoke(t, append(env, envServers+"=127.0.0.1:1"), append([]string{"run"}, args...)...)
			require.Equal(t, exitUsage, code)
			require.Contains(t, stderr, test.want, "%+v", test)
			continue
		}
		require.NoError(t, (&program{env: env}).parseJob(fs, args, &f.jobFlags, "lock"))
		require.Equal(t, test.want, onFlags(fs), "%+v", test)
	}
}

// onFlags lists the flags that are given, without --config.
func onFlags(fs *flag.FlagSet) string {
	var all []string
	fs.VisitAll(func(f *flag.Flag) {
		s := f.Value.(*setting)
		switch {
		case !s.isOn() || s.name == "config":
		case s.IsBoolFlag():
			all = append(all, s.name)
		default:
			for _, v := range s.values {
				all = append(all, s.name+"="+v.text)
			}
		}
	})
	return strings.Join(all, " ")
}

// All paths of the strongest level count, and those of no other.
func TestLocksAsVariables(t *testing.T) {
	for _, test := range []struct {
		args      string
		env, file []string
		want      string
	}{
		{"", []string{"ZKRECIPES_LOCK=/a,b"}, nil, "/a,b"},
		{"", []string{"ZKRECIPES_LOCK_10=/c", "ZKRECIPES_LOCK_2=/b", "ZKRECIPES_LOCK_1=/a"}, nil, "/a /b /c"},
		{"", []string{"ZKRECIPES_LOCK_3=/c", "ZKRECIPES_LOCK=/a"}, []string{"ZKRECIPES_LOCK_4=/d"}, "/a /c"},
		{"", nil, []string{"ZKRECIPES_LOCK_2=/b", "ZKRECIPES_LOCK_1=/a"}, "/a /b"},
		{"", []string{"ZKRECIPES_LOCK_1=/b", "ZKRECIPES_LOCK_0=/a"}, nil, "/a /b"},
		{"/x", []string{"ZKRECIPES_LOCK_1=/a"}, []string{"ZKRECIPES_LOCK_2=/b"}, "/x"},
		{"/x --lock /y /z", []string{"ZKRECIPES_LOCK=/a"}, nil, "/x /y /z"},
		// Variables that a zkrecipes above has set are not locks.
		{"", []string{"ZKRECIPES_LOCK=/a", envLockPath + "=/p", envLockPath + "_1=/q", envLockCount + "=3", envLockToken + "_2=7"}, nil, "/a"},
	} {
		f, err := parsedRun(t, test.args+" -- true", test.env, test.file)
		require.NoError(t, err, "%+v", test)
		require.Equal(t, test.want, strings.Join(f.paths, " "), "%+v", test)
	}
}

// A mistake names where it is.
func TestMistakesNameTheirOrigin(t *testing.T) {
	file := configured(t, "# ours", "ZKRECIPES_GRACE=9h", "ZKRECIPES_MAX_HOLD=5m", "ZKRECIPES_PATH=e")
	for _, test := range []struct {
		args string
		env  []string
		says string
	}{
		{"run /l -- true", []string{"ZKRECIPES_PERMITS=x"}, `run: ZKRECIPES_PERMITS "x": not a whole number`},
		{"run /l -- true", []string{"ZKRECIPES_TRY=perhaps"}, `run: ZKRECIPES_TRY "perhaps": neither true nor false`},
		{"run /l -- true", []string{"ZKRECIPES_PERMITS=0"}, "at most 2147483647 (--permits is from ZKRECIPES_PERMITS)"},
		{"run -- true", []string{"ZKRECIPES_LOCK_2=l"}, "does not begin with a slash (--lock is from ZKRECIPES_LOCK_2)"},
		{"run -- true", []string{"ZKRECIPES_LOCK=/"}, "(--lock is from ZKRECIPES_LOCK)"},
		{"run l -- true", []string{"ZKRECIPES_LOCK=/l"}, "does not begin with a slash\n"},
		{"run /l -w x -- true", nil, `run: -w "x": not a length of time`},
		{"run /l --timeout x -- true", nil, `run: --timeout "x": not a length of time`},
		{"run /l --config @ --grace 1s --min-hold 6m -- true", nil, "(--max-hold is from @:3: ZKRECIPES_MAX_HOLD)"},
		{"run /l --config @ -- true", nil, "(--grace is from @:2: ZKRECIPES_GRACE)"},
		{"elect --config @ --grace 1s -- true", nil, "does not begin with a slash (--path is from @:4: ZKRECIPES_PATH)"},
		{"ls /l", []string{envServers + "=http://me:hunter2@zk"}, "an address has no scheme: write HOST:PORT (--servers is from ZKRECIPES_SERVERS)"},
		{"ls /l", []string{"ZKRECIPES_JSON=ja"}, `ls: ZKRECIPES_JSON "ja": neither true nor false`},
		{"revoke /l", []string{"ZKRECIPES_ALL=1", "ZKRECIPES_SUCCESSOR=n"}, "(--all is from ZKRECIPES_ALL, --successor is from ZKRECIPES_SUCCESSOR)"},
		{"testserver", []string{"ZKRECIPES_PORT=70000"}, "not between 0 and 65535 (--port is from ZKRECIPES_PORT)"},
		{"ls /l", []string{envAuth + "=hunter2"}, "ls: " + envAuth + " is not SCHEME:SECRET"},
	} {
		env := append([]string{envServers + "=127.0.0.1:1"}, test.env...)
		code, stdout, stderr := invoke(t, env, strings.Fields(strings.ReplaceAll(test.args, "@", file))...)
		require.Equal(t, exitUsage, code, "%s %v: %s", test.args, test.env, stderr)
		require.Contains(t, stderr, strings.ReplaceAll(test.says, "@", file), test.args)
		require.NotContains(t, stderr, "hunter2")
		require.Empty(t, stdout)
	}
}

// Mistakes of verbs that ask nobody are theirs.
func TestVariablesOfOtherVerbsDoNoHarm(t *testing.T) {
	env := []string{"ZKRECIPES_PERMITS=x", "ZKRECIPES_CONFIG=/no/such/file", envAuth + "=x", "ZKRECIPES_PORT=tcp://10.0.0.1:80"}
	for _, verb := range []string{"version", "help"} {
		code, stdout, stderr := invoke(t, env, verb)
		require.Zero(t, code, stderr)
		require.NotEmpty(t, stdout)
	}
	p := &program{env: []string{"ZKRECIPES_PERMITS=x", "ZKRECIPES_PORT=tcp://10.0.0.1:80"}}
	f := &lsFlags{}
	require.NoError(t, p.parse(f.flagSet(), []string{"/l"}))
}

// Who reads a command line that names only a path takes it for an exclusive lock.
func TestKindThatComesFromVariables(t *testing.T) {
	server := zktest.NewServer(t)
	for _, test := range []struct{ args, env, says string }{
		{"run /l", "ZKRECIPES_SHARED=1", "zkrecipes: not an exclusive lock: --shared is from ZKRECIPES_SHARED, and would be ignored with --exclusive\n"},
		{"run /p", "ZKRECIPES_PERMITS=3", "zkrecipes: not an exclusive lock: --permits is from ZKRECIPES_PERMITS, and would be ignored with --exclusive\n"},
		{"run /s", "ZKRECIPES_STRIPES=2", "zkrecipes: not an exclusive lock: --stripes is from ZKRECIPES_STRIPES, and would be ignored with --exclusive\n"},
		{"run /l --exclusive", "ZKRECIPES_SHARED=1", ""},
		{"run /l --shared", "ZKRECIPES_SHARED=1", ""},
		{"run /l --quiet", "ZKRECIPES_SHARED=1", ""},
		{"run /l", "ZKRECIPES_WRITE=1", ""},
		{"run", "ZKRECIPES_SHARED=1 ZKRECIPES_LOCK=/l", ""},
	} {
		args := strings.Fields(test.args)
		if args[0] == "run" {
			args = append(args, "--", "true")
		}
		env := append(strings.Fields(test.env), envServers+"="+server.Addr())
		code, _, stderr := invoke(t, env, args...)
		require.Zero(t, code, stderr)
		require.Equal(t, test.says, stderr, "%+v", test)
	}
}
