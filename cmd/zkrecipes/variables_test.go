//go:build unix

package main

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// outputVariables are what zkrecipes sets for a command.
func outputVariables() []string {
	locks, tokens := []string{"/a", "/b"}, []lease.Token{1, 2}
	number := 1
	e := environ{}.forCommand(locks, tokens, 1).withStripe(&number)
	var names []string
	for _, entry := range slices.Concat(e, environ{}.withRun(&recordedRun{}), environ{}.withRun(&recordedRun{tick: true})) {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	return names
}

// What zkrecipes sets for a command is read by no zkrecipes below it, and what is read
// is not removed as if it were set.
func TestVariablesForTheCommandAreNoFlags(t *testing.T) {
	output := outputVariables()
	require.Len(t, output, 12)
	for _, name := range output {
		require.True(t, strings.HasPrefix(name, "ZKRECIPES_LOCK_"), name)
		require.False(t, variable{name: name}.isForFile(), name)
	}
	settings(func(s *setting) {
		names := []string{variableOf(s.name)}
		if s.list() {
			names = append(names, numbered(names[0], 1), numbered(names[0], 12))
		}
		for _, name := range names {
			require.NotContains(t, output, name)
			require.Equal(t, environ{name + "=x"}, environ{name + "=x"}.withoutOthers())
			for _, other := range output {
				require.False(t, strings.HasPrefix(name, other+"_"), "%s could be one of several %s", name, other)
			}
		}
	})
}

// No two flags have the same variable, and flags of the same name mean the same in all
// verbs as far as it shows.
func TestEachFlagHasItsVariable(t *testing.T) {
	flagOf, isBool := map[string]string{envAuth: "a secret"}, map[string]bool{}
	settings(func(s *setting) {
		name := variableOf(s.name)
		require.Regexp(t, `^ZKRECIPES(_[A-Z]+)+$`, name)
		if other, found := flagOf[name]; found {
			require.Equal(t, other, s.name)
			require.Equal(t, isBool[name], s.IsBoolFlag(), s.name)
		}
		flagOf[name], isBool[name] = s.name, s.IsBoolFlag()
	})
	require.NotContains(t, flagOf, variableOf("command"))
	// The tables name no flag that does not exist.
	tables := slices.Concat(commandLineOnly, slices.Concat(exclusive...))
	for name, others := range needs {
		tables = append(append(tables, name), others...)
	}
	for _, short := range shortFlags {
		tables = append(tables, short.name)
	}
	for _, name := range tables {
		require.True(t, slices.ContainsFunc(verbs(), func(v verb) bool { return v.flags().Lookup(name) != nil }), name)
	}
}

// Each flag of each verb can be set as a variable.
func TestEveryFlagIsReadFromTheEnvironment(t *testing.T) {
	for _, v := range verbs() {
		v.flags().VisitAll(func(f *flag.Flag) {
			if slices.Contains(commandLineOnly, f.Name) {
				return
			}
			require.True(t, slices.ContainsFunc([]string{"/dev/null", "true", "7", "7s", "json"}, func(value string) bool {
				fs := v.flags()
				p := &program{env: environ{variableOf(f.Name) + "=" + value}}
				return p.parse(fs, nil) == nil && settingOf(fs, f.Name).level == inEnvironment
			}), "%s %s", v.name, f.Name)
		})
	}
}

// The command gets how ZooKeeper is reached, and nothing of what was said to this
// zkrecipes alone.
func TestWhatACommandInherits(t *testing.T) {
	reach := []string{"ZKRECIPES_SERVERS", "ZKRECIPES_AUTH_FILE", "ZKRECIPES_SESSION_TIMEOUT", "ZKRECIPES_TLS", "ZKRECIPES_TLS_CA",
		"ZKRECIPES_TLS_CERT", "ZKRECIPES_TLS_KEY", "ZKRECIPES_TLS_SERVER_NAME"}
	var stays []string
	settings(func(s *setting) {
		p := &program{env: environ{variableOf(s.name) + "=x"}}
		if name := variableOf(s.name); s.name != "config" && len(p.passedOn()) > 0 && !slices.Contains(stays, name) {
			stays = append(stays, name)
		}
	})
	require.ElementsMatch(t, reach, stays)
	others := environ{"PATH=/bin", "ZKRECIPES=x", "ZKRECIPES_LOCKS=x", envAuth + "=a:b", envLockPath + "=/p", envLockKey + "=k", "ZKRECIPES_TEST_X=y", "NO_EQUALS"}
	require.Equal(t, others, (&program{env: append(slices.Clone(others), "ZKRECIPES_LOCK_3=/l", "ZKRECIPES_LOCK_DELAY=1s")}).passedOn())
}

// A file goes on only if it is known to say nothing about the lock.
func TestWhetherACommandInheritsTheFile(t *testing.T) {
	reach := configured(t, "ZKRECIPES_SERVERS=a", "ZKRECIPES_AUTH=a:b", "ZKRECIPES_TLS_CA=/ca")
	mixed := configured(t, "ZKRECIPES_SERVERS=a", "ZKRECIPES_PERMITS=3")
	locks := configured(t, "ZKRECIPES_LOCK_2=/l")
	for _, test := range []struct {
		args, env string
		want      bool
	}{
		{"", reach, true}, {"", mixed, false}, {"", locks, false}, {"--config " + reach, mixed, false}, {"--config " + reach, reach, false},
	} {
		env := environ{"ZKRECIPES_CONFIG=" + test.env}
		p := &program{env: env}
		_, err := p.parseRun(strings.Fields("/l " + test.args + " -- true"))
		require.NoError(t, err)
		require.Equal(t, test.want, slices.Contains(p.passedOn(), env[0]), "%+v", test)
	}
}

// From end to end: a file and the environment make a semaphore, and the command below
// sees the servers, but no permits.
func TestRunWithoutFlags(t *testing.T) {
	server := zktest.NewServer(t)
	t.Setenv("ZKRECIPES_CONFIG", configured(t, "ZKRECIPES_LOCK=/file", "ZKRECIPES_JSON=true"))
	t.Setenv("ZKRECIPES_PERMITS", "3")
	p := start(t, server, append([]string{"run"}, command("environment", "ZKRECIPES_SERVERS", "ZKRECIPES_PERMITS", "ZKRECIPES_CONFIG")...)...)
	acquired := p.event("acquired")
	require.Equal(t, "/file", acquired.Lock)
	require.Equal(t, lease.KindSemaphore, acquired.Kind)
	var lines []string
	for line := range p.lines {
		lines = append(lines, line)
	}
	require.Equal(t, []string{"/file", acquired.Token.String(), acquired.Session, server.Addr(), "", ""}, lines)
	require.Zero(t, p.end())
}
