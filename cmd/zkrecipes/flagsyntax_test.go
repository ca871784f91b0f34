//go:build unix

package main

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of two values package flag would use the last, without a word.
func TestFlagGivenTwice(t *testing.T) {
	env := []string{envServers + "=127.0.0.1:1"}
	for _, test := range []struct{ args, flag string }{
		{"run --lock /a --shared --shared -- true", "--shared"},
		{"run --lock /a --try --try=false -- true", "--try"},
		{"run --lock /a --timeout 1s --timeout 2s -- true", "--timeout"},
		{"run --lock /a --permits 1 --json --permits 2 -- true", "--permits"},
		{"run --lock /a --servers a --servers b -- true", "--servers"},
		{"run --lock /a --min-hold 1s --min-hold 2s -- true", "--min-hold"},
		{"elect --path /a --path /b -- true", "--path"},
		{"elect --path /a --lock-delay 1s --lock-delay 1s -- true", "--lock-delay"},
		{"elect --path /a --id a --id b -- true", "--id"},
		{"ls /a --json --json", "--json"},
		{"ls --json /a --json", "--json"},
		{"ls --servers a /a --servers b", "--servers"},
		{"revoke --node a /a --node b", "--node"},
		{"revoke /a --all --all", "--all"},
		{"testserver --port 1 --port 2", "--port"},
		{"testserver --host a --host a", "--host"},
	} {
		code, stdout, stderr := invoke(t, env, strings.Fields(test.args)...)
		require.Equal(t, exitUsage, code, test.args)
		require.Contains(t, stderr, test.flag+" is given twice", test.args)
		require.Empty(t, stdout)
	}
}

func TestMistypedFlag(t *testing.T) {
	for args, says := range map[string]string{
		"run /l --tmeout 3s -- true": "there is no flag --tmeout; did you mean --timeout?",
		"run /l -timout 3s -- true":  "there is no flag --timout; did you mean --timeout?",
		"run /l --verbose -- true":   "there is no flag --verbose (see",
		"show /l --jsn":              "there is no flag --jsn; did you mean --json?",
	} {
		code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"}, strings.Fields(args)...)
		require.Equal(t, exitUsage, code, args)
		require.Contains(t, stderr, says, args)
	}
}

// Flags of the command are not ours to check.
func TestFlagOfTheCommandGivenTwice(t *testing.T) {
	code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"},
		"run", "--lock", "/a", "--", "no-such-command-anywhere", "--lock", "/a", "--lock", "/b")
	require.Equal(t, exitNotFound, code, stderr)
}

// readLine and package flag read every command line alike, up to the first argument
// that is no flag.
func TestSyntaxIsThatOfPackageFlag(t *testing.T) {
	words := []string{"-a", "--a=1", "-a=", "---x", "--", "-", "x", "", "--b", "-b=false", "--nope", "--nope=1", "--=", "-=1", "-h", "--help", "--help=1"}
	for i := range len(words) * len(words) * len(words) {
		args := []string{words[i%len(words)], words[i/len(words)%len(words)], words[i/len(words)/len(words)]}
		set := func() *flag.FlagSet {
			fs := flag.NewFlagSet("x", flag.ContinueOnError)
			fs.SetOutput(io.Discard)
			fs.String("a", "", "")
			fs.Bool("b", false, "")
			return fs
		}
		theirs, ours := set(), set()
		err := theirs.Parse(args)
		if read := len(args) - len(theirs.Args()); err == nil && !slices.Contains(args[:read], "--") {
			args = args[:read]
		}
		makeSettings(ours)
		line, mistake := readLine(ours, args, nil)
		require.Equal(t, err == nil || errors.Is(err, flag.ErrHelp), mistake == nil, "%q: %v, %v", args, err, mistake)
		if mistake == nil {
			require.Equal(t, errors.Is(err, flag.ErrHelp), line.help, "%q", args)
		}
	}
}
