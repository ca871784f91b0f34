//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A wrong path is the same mistake for all verbs, wherever it stands.
func TestWrongPaths(t *testing.T) {
	forms := map[string]string{ // a command line, and what a message calls the verb
		"ls @": "ls", "ls --cycles @": "ls", "revoke @": "revoke", "revoke --all @": "revoke",
		"run @ -- true": "run", "run --lock @ -- true": "run", "run /l @ -- true": "run", "run --once @ --key k -- true": "run",
		"elect @ -- true": "elect", "elect --path @ -- true": "elect", "run @ -c true": "run",
	}
	for path, says := range map[string]string{
		"":       "a path is empty: perhaps a variable of the shell is not set",
		"l":      "does not begin with a slash",
		"./l":    "does not begin with a slash",
		"/l/":    "ends with a slash",
		"/l//m":  "empty element",
		"/l/..":  "relative",
		"/":      "a node of its own",
		"//":     "empty element",
		"/a\x01": "character",
	} {
		texts := map[string]bool{}
		for form, verb := range forms {
			if form == "ls --cycles @" && path == "/" { // all below it
				continue
			}
			args := strings.Fields(form)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "@", path)
			}
			code, stdout, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"}, args...)
			require.Equal(t, exitUsage, code, "%s %q: %s", form, path, stderr)
			require.Contains(t, stderr, says, "%s %q", form, path)
			require.Empty(t, stdout)
			text := strings.TrimPrefix(strings.TrimSuffix(stderr, "\n"), "zkrecipes: "+verb+": ")
			text = strings.TrimSuffix(text, "; for all that is in use: zkrecipes ls --recursive")
			texts[strings.Replace(text, "/elections/scheduler", "/locks/backup", 1)] = true
		}
		require.Len(t, texts, 1, "%q: %v", path, texts)
	}
}

// Arguments and flags may come in any order; the command comes last.
func TestOneGrammarForPaths(t *testing.T) {
	for args, want := range map[string]string{
		"/l -- true":                    "lock=/l",
		"/l --try -- true":              "lock=/l try",
		"--try /l -- true":              "lock=/l try",
		"/l --try /m --label x -- true": "label=x lock=/l lock=/m try",
		"--lock /l --try /m -- true":    "lock=/l lock=/m try",
	} {
		f := &runFlags{}
		fs := f.flagSet()
		require.NoError(t, (&program{}).parseJob(fs, strings.Fields(args), &f.jobFlags, "lock"), args)
		require.Equal(t, want, onFlags(fs), args)
		require.Equal(t, []string{"true"}, f.command)
	}
	for args, says := range map[string]string{
		// As flock(1) has it, which of several paths could not be told from a command.
		"run /l true":                   "no command: put it last, behind --, as in: zkrecipes run /l -- true",
		"run --lock /l ./backup.sh now": "as in: zkrecipes run /l -- ./backup.sh now",
		"run /l rsync -a x y":           "there is no flag -a; COMMAND and its flags stand behind --",
		"run /l":                        "as in: zkrecipes run /l -- COMMAND ARGS...",
		"run --once /j --key k true":    "PATH and --once contradict",
		"run --once /j --key k":         "as in: zkrecipes run --once /j -- COMMAND ARGS...",
		"run /l -a -- true":             "there is no flag -a (see",
		"run /l -- ":                    "no command",
		"elect /e":                      "as in: zkrecipes elect /e -- COMMAND ARGS...",
		"elect /e /f -- true":           `only one path at a time: what is "/f"?`,
		"elect --path /e /f -- true":    `only one path at a time: what is "/f"?`,
		"elect /e --path /f -- true":    "--path is given twice",
		"elect -- true":                 "no election: give PATH, as in: zkrecipes elect /elections/scheduler -- COMMAND",
		"run -- true":                   "no lock: give PATH, as in: zkrecipes run /locks/backup -- COMMAND",
		"ls /l -- /m":                   `only one path at a time: what is "/m"?`,
	} {
		code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"}, strings.Fields(args)...)
		require.Equal(t, exitUsage, code, "%s: %s", args, stderr)
		require.Contains(t, stderr, says, args)
	}
	code, _, stderr := invoke(t, nil, "ls", "--", "/l")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "no servers", "-- ends the flags of all verbs")
}
