//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestShortFlags(t *testing.T) {
	for args, want := range map[string]string{
		"/l -s":                     "lock=/l shared",
		"-x /l":                     "exclusive lock=/l",
		"-n /l":                     "lock=/l try",
		"-n=false /l":               "lock=/l",
		"-w 2.5 /l":                 "lock=/l timeout=2.5s",
		"-w 5 /l":                   "lock=/l timeout=5s",
		"-w=5 /l":                   "lock=/l timeout=5s",
		"-w 5m /l":                  "lock=/l timeout=5m",
		"-w5 /l":                    "lock=/l timeout=5s",
		"-w2.5 /l":                  "lock=/l timeout=2.5s",
		"-w.5 /l":                   "lock=/l timeout=.5s",
		"-w90m /l":                  "lock=/l timeout=90m",
		"-w 0 /l":                   "lock=/l try",
		"-w0 /l":                    "lock=/l try",
		"-w 0.0 /l":                 "lock=/l try",
		"-nE9 /l":                   "conflict-exit-code=9 lock=/l try",
		"-E 0 /l":                   "conflict-exit-code=0 lock=/l",
		"-E=9 /l":                   "conflict-exit-code=9 lock=/l",
		"-sn /l":                    "lock=/l shared try",
		"-xnE 9 /l":                 "conflict-exit-code=9 exclusive lock=/l try",
		"-sw=5 /l":                  "lock=/l shared timeout=5s",
		"-shared -timeout=5s /l /m": "lock=/l lock=/m shared timeout=5s",
		"/l -lock /m":               "lock=/l lock=/m",
	} {
		f := &runFlags{}
		fs := f.flagSet()
		require.NoError(t, (&program{}).parseJob(fs, append(strings.Fields(args), "--", "true"), &f.jobFlags, "lock"), args)
		require.Equal(t, want, onFlags(fs), args)
		require.Equal(t, []string{"true"}, f.command)
	}
	f := &electFlags{}
	require.NoError(t, (&program{}).parseJob(f.flagSet(), []string{"-w", "5", "/e", "-c", "exec x $y"}, &f.jobFlags, "path"))
	require.Equal(t, []string{"sh", "-c", "exec x $y"}, f.command)
	require.Equal(t, pathList{"/e"}, f.paths)
}

func TestMistakesInShortFlags(t *testing.T) {
	for args, says := range map[string]string{
		"run -s -x /l -- true":    "-x and -s contradict",
		"run -s -s /l -- true":    "-s is given twice",
		"run --try -n /l -- true": "--try is given twice",
		"run -n -w 5 /l -- true":  "run: -n and -w contradict",
		"run -n -w0 /l -- true":   "-n is given twice",
		"run --try -w 5 /l -- x":  "--try and -w contradict",
		"run -E 256 /l -- true":   "run: -E 256 is not between",
		"elect -w 0 /e -- true":   "-w 0 leaves no time",
		"run -w -1 /l -- true":    `-w "-1": not a length of time`,
		"run -w NaN /l -- true":   `-w "NaN": not a length of time`,
		"run -w -1s /l -- true":   `-w "-1s": must not be negative`,
		"run -w 1e3 /l -- true":   `-w "1e3": not a length of time`,
		"run -w . /l -- true":     `-w ".": not a length of time`,
		"run -w /l -- true":       `-w "/l": not a length of time`,
		"run -w":                  "-w needs a value",
		"run -sw":                 "-w needs a value",
		"run -w5x /l -- true":     `-w "5x": not a length of time`,
		"run -w5=3 /l -- true":    `-w "5=3": not a length of time`,
		"run -n5 /l -- true":      "there is no flag --n5",
		"run -5 /l -- true":       "there is no flag -5",
		"run --w5 /l -- true":     "there is no flag --w5",
		"run -timeout5 /l":        "there is no flag --timeout5; did you mean --timeout?",
		"run -confg f /l -- true": "there is no flag -confg; the value of -c stands behind a space",
		"run -ws 5 /l -- true":    "there is no flag -ws; the value of -w",
		"run -sz /l -- true":      "there is no flag --sz",
		"run -z /l -- true":       "there is no flag -z",
		"run --s /l -- true":      "there is no flag --s",
		"run --n /l -- true":      "there is no flag --n",
		"run -E x /l -- true":     `-E "x": not a whole number`,
		"run -n=5 /l -- true":     `-n "5": neither true nor false`,
		"ls -s /l":                "there is no flag -s",
		"elect -n /e -- true":     "there is no flag -n",
		"run -c true /l -- true":  "-c and a COMMAND behind -- contradict",
		"run -c true /l --":       "-c and a COMMAND behind -- contradict",
		"run -c= /l":              "-c is empty",
		"run -c true":             "no lock: give PATH",
	} {
		code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"}, strings.Fields(args)...)
		require.Equal(t, exitUsage, code, "%s: %s", args, stderr)
		require.Contains(t, stderr, says, args)
	}
	// No variable makes a shell run something.
	code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1", "ZKRECIPES_COMMAND=true"}, "run", "/l")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "no command")
}

func TestCommandOfTheShell(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, "run", "--json", "-nc", `echo "$ZKRECIPES_LOCK_PATH" | cat; exit 3`, testLock)
	require.Equal(t, testLock, p.line())
	require.Equal(t, 3, p.end())
}
