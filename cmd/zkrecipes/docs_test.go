//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// documents are the texts for users, by their names.
func documents(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	texts := map[string]string{}
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		texts[filepath.Base(file)] = string(text)
	}
	return texts
}

// ours removes the columns about other commands from a table's line, which names ours
// in its head.
func ours(lines []string) []string {
	var kept []string
	column := 0
	for _, line := range lines {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			column = 0
		case column == 0:
			column = 1 + slices.IndexFunc(cells, func(cell string) bool { return strings.HasPrefix(strings.TrimSpace(cell), "zkrecipes") })
		}
		if column > 0 {
			line = strings.Join(cells[min(column-1, len(cells)):], "|")
		}
		kept = append(kept, line)
	}
	return kept
}

var (
	longFlags   = regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-z-]*[a-z])`)
	ourNames    = regexp.MustCompile(`ZKRECIPES_[A-Z_]*[A-Z](?:_\d+)?`)
	invocations = regexp.MustCompile("(?:^|[ `(])zkrecipes ([^`|]+)")
	exitCodes   = regexp.MustCompile(`(?:^| )exits? (?:code |with )(\d+)`)
)

// Every flag, verb, exit code and variable in the documents exists.
func TestDocumentsNameWhatExists(t *testing.T) {
	found := map[string]int{}
	for name, text := range documents(t) {
		for i, line := range ours(strings.Split(text, "\n")) {
			at := name + ":" + strconv.Itoa(i+1)
			mine := line
			if fields := strings.Fields(line); len(fields) > 0 && slices.Contains([]string{"flock", "consul", "etcdctl", "docker", "go"}, fields[0]) {
				continue // a command line of another program
			}
			for _, m := range invocations.FindAllStringSubmatch(line, -1) {
				found["verb"]++
				checkInvocation(t, at, m[1])
			}
			// What stands behind -- is for the command.
			if _, _, hasCommand := strings.Cut(line, " -- "); hasCommand && strings.HasPrefix(line, "zkrecipes") {
				mine, _, _ = strings.Cut(line, " -- ")
			}
			for _, m := range longFlags.FindAllStringSubmatch(mine, -1) {
				found["flag"]++
				require.True(t, slices.ContainsFunc(verbs(), func(v verb) bool { return v.flags().Lookup(m[1]) != nil }), "%s: there is no flag --%s", at, m[1])
			}
			for _, variable := range ourNames.FindAllString(line, -1) {
				found["variable"]++
				require.True(t, isOurVariable(variable), "%s: there is no variable %s", at, variable)
			}
			for _, m := range exitCodes.FindAllStringSubmatch(line, -1) {
				found["exit code"]++
				require.Contains(t, exitCodeNumbers(), m[1], at)
			}
		}
	}
	require.Greater(t, found["verb"], 20)
	require.Greater(t, found["flag"], 40)
	require.Greater(t, found["variable"], 8)
	require.GreaterOrEqual(t, found["exit code"], 1)
}

// checkInvocation checks the flags of a command line, up to what its command is.
func checkInvocation(t *testing.T, at, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " -- ")
	words := strings.Fields(line)
	if first := words[0]; !regexp.MustCompile(`^[a-z]+$`).MatchString(first) {
		return // not a verb, as of "zkrecipes itself"
	}
	v, ok := findVerb(strings.TrimRight(words[0], ".,:;)"))
	require.True(t, ok, "%s: there is no verb %q", at, words[0])
	fs := v.flags()
	makeSettings(fs)
	for _, word := range words[1:] {
		if name, _, _ := strings.Cut(strings.TrimRight(word, ".,:;)"), "="); len(name) > 1 && name[0] == '-' {
			flags, _ := findFlags(fs, strings.TrimLeft(name, "-"), name[1] != '-')
			require.NotEmpty(t, flags, "%s: zkrecipes %s has no flag %s", at, v.name, name)
		}
	}
}

// isOurVariable reports whether zkrecipes reads a variable, or sets it for a command.
func isOurVariable(name string) bool {
	found := name == envAuth || slices.Contains(outputVariables(), name)
	settings(func(s *setting) { _, ok := variable{name: name}.numberFor(s.name, s.list()); found = found || ok })
	return found
}

// exitCodeNumbers are the exit codes that zkrecipes has of its own.
func exitCodeNumbers() (numbers []string) {
	for _, code := range []int{0, exitNoContender, exitUsage, exitUnavailable, exitConflict, exitLost, exitNoPerm, exitCannotRun, exitNotFound, exitSignal} {
		numbers = append(numbers, strconv.Itoa(code))
	}
	return numbers
}

// The tables of exit codes have all of ours, and no other.
func TestDocumentedExitCodes(t *testing.T) {
	for name, column := range map[string]int{"command.md": 0, "coming-from-lock-commands.md": 4} {
		_, table, ok := strings.Cut(documents(t)[name], map[int]string{0: "| exit code |", 4: "## Exit codes"}[column])
		require.True(t, ok, name)
		table, _, _ = strings.Cut(table, "\n## ")
		var cells []string
		for line := range strings.SplitSeq(table, "\n") {
			if row := strings.Split(strings.Trim(line, "|"), "|"); strings.HasPrefix(line, "|") {
				cells = append(cells, row[column])
			}
		}
		numbers := regexp.MustCompile(`\d+`).FindAllString(strings.Join(cells, " "), -1)
		for _, number := range numbers {
			require.Contains(t, append(exitCodeNumbers(), strconv.Itoa(exitSignal+int(syscall.SIGTERM))), number, name)
		}
		for _, code := range []int{exitUsage, exitUnavailable, exitConflict, exitLost, exitNoPerm, exitCannotRun, exitNotFound} {
			require.Contains(t, numbers, strconv.Itoa(code), name)
		}
	}
}

// The table has every short flag.
func TestDocumentedShortFlags(t *testing.T) {
	for _, short := range shortFlags {
		require.Contains(t, documents(t)["coming-from-lock-commands.md"], "`-"+string(short.letter))
	}
}
