//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

var (
	headLine   = regexp.MustCompile(`^# (HELP|TYPE) ([a-z_]+) (.+)$`)
	seriesLine = regexp.MustCompile(`^([a-z_]+)(\{.*\})? (\S+)$`)
	labelPair  = regexp.MustCompile(`^([a-z]+)="((?:[^"\\]|\\["\\n])*)"`)
)

// A scraped is one series that was read.
type scraped struct {
	labels map[string]string
	value  float64
}

// parseScrape reads the text format as strictly as it is written: HELP and TYPE once in
// front of the series of a metric, in the order of the names, each series once.
func parseScrape(t *testing.T, text string) map[string][]scraped {
	t.Helper()
	require.True(t, utf8.ValidString(text))
	require.True(t, strings.HasSuffix(text, "\n"))
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	found, seen, current := map[string][]scraped{}, map[string]bool{}, ""
	for i := 0; i < len(lines); i++ {
		if help := headLine.FindStringSubmatch(lines[i]); help != nil {
			require.Equal(t, "HELP", help[1], lines[i])
			require.NotContains(t, help[3], `\`)
			require.Greater(t, help[2], current, "the order of the metrics")
			require.Less(t, i+2, len(lines), "a metric has a series")
			require.Equal(t, "# TYPE "+help[2]+" gauge", lines[i+1])
			current = help[2]
			i++
			continue
		}
		of := seriesLine.FindStringSubmatch(lines[i])
		require.NotNil(t, of, "%q", lines[i])
		require.Equal(t, current, of[1], "a series stands below the HELP of its metric")
		require.False(t, seen[of[1]+of[2]], "a second time: %s", lines[i])
		seen[of[1]+of[2]] = true
		value, err := strconv.ParseFloat(of[3], 64)
		require.NoError(t, err)
		found[of[1]] = append(found[of[1]], scraped{parseLabels(t, of[2]), value})
	}
	return found
}

func parseLabels(t *testing.T, text string) map[string]string {
	t.Helper()
	labels := map[string]string{}
	if text == "" {
		return labels
	}
	text = text[1:]
	for {
		pair := labelPair.FindStringSubmatch(text)
		require.NotNil(t, pair, "%q", text)
		require.NotContains(t, labels, pair[1])
		labels[pair[1]] = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(pair[2])
		text = text[len(pair[0]):]
		if text == "}" {
			return labels
		}
		require.Equal(t, ",", text[:1])
		text = text[1:]
	}
}

// value returns that of the one series that has these labels, of several, written in
// turn.
func value(t *testing.T, found map[string][]scraped, name string, labels ...string) float64 {
	t.Helper()
	all := slices.DeleteFunc(slices.Clone(found[name]), func(s scraped) bool {
		for i := 0; i < len(labels); i += 2 {
			if s.labels[labels[i]] != labels[i+1] {
				return true
			}
		}
		return false
	})
	require.Len(t, all, 1, "%s %v in %v", name, labels, found[name])
	return all[0].value
}

// number is value for what is counted.
func number(t *testing.T, found map[string][]scraped, name string, labels ...string) int {
	t.Helper()
	v := value(t, found, name, labels...)
	require.Zero(t, v-float64(int(v)))
	return int(v)
}

// allMetrics has all metrics.
func allMetrics() exposition {
	e := exposition{}
	e.addUp(1)
	e.addLitter([]inspect.Litter{{Kind: inspect.LitterEmpty}, {Kind: inspect.LitterBadName, Certain: true}})
	l := heldLock("/a", 0)
	l.Waiting, l.WaitingSince, l.Size = 1, l.Head.Enqueued, 3
	e.addLocks([]inspect.LockInUse{l}, ownPaths)
	e.add("zkrecipes_paths_unreadable", 0)
	e.add("zkrecipes_exporter_survey_seconds", 0.5)
	return e
}

// What is documented is written, with these labels, and what is written is documented.
func TestDocumentedMetrics(t *testing.T) {
	written := map[string]string{}
	read := parseScrape(t, allMetrics().String())
	require.Equal(t, 1, number(t, read, "zkrecipes_litter", "kind", "bad-name"))
	require.Equal(t, 0, number(t, read, "zkrecipes_litter", "kind", "empty"), "the servers may still remove it")
	for name, all := range read {
		names := slices.Sorted(maps.Keys(all[0].labels))
		written[name] = strings.Join(names, ",")
	}
	var names []string
	for _, m := range exporterMetrics {
		names = append(names, m.name)
		require.Contains(t, written, m.name, "a HELP line of what is never written")
	}
	require.True(t, slices.IsSorted(names))
	require.Len(t, written, len(names), "what is written has its HELP line")
	for metric := range allMetrics() {
		require.Contains(t, names, metric, "it would not be written")
	}

	_, help, _ := strings.Cut(helpExporter, "\nThe metrics;")
	help, _, _ = strings.Cut(help, "\n\n")
	page, err := os.ReadFile("../../docs/exporter.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "\n## Metrics\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for where, documented := range map[string]map[string]string{
		"help": documentedMetrics(help, regexp.MustCompile(`(?m)^  (zkrecipes_[a-z_]+)(?:\{([a-z,]+)\})?`)),
		"page": documentedMetrics(table, regexp.MustCompile("(?m)^\\| `(zkrecipes_[a-z_]+)` \\| ([`a-z, ]*)\\|")),
	} {
		for name, labels := range written {
			if name == "zkrecipes_build_info" && where == "help" {
				labels = "" // a sentence names them
			}
			require.Contains(t, documented, name, where)
			require.Equal(t, labels, documented[name], "%s: %s", where, name)
		}
		require.Len(t, documented, len(written), "%s: %v", where, documented)
	}
}

func documentedMetrics(text string, line *regexp.Regexp) map[string]string {
	found := map[string]string{}
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		names := strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune("`, ", r) })
		slices.Sort(names)
		found[m[1]] = strings.Join(names, ",")
	}
	return found
}

// Every other name that begins with ours, in the help text, is a metric too. Those on
// pages are checked in internal/proof/doctest.
func TestHelpNamesMetricsThatExist(t *testing.T) {
	names := regexp.MustCompile(`\bzkrecipes_[a-z_]*[a-z]`).FindAllString(helpExporter, -1)
	for _, name := range names {
		require.True(t, slices.ContainsFunc(exporterMetrics, func(m metric) bool { return m.name == name }), name)
	}
	require.Greater(t, len(names), 10)
}

// Other programs write paths and holders as they like.
func TestHostileLabels(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	hostile := []string{
		`quote " and \ backslash`, "line\nbreak\r\n# TYPE x counter\nzkrecipes_exporter_up 0", "\xff\xfe not UTF-8 \xc3", "nul \x00 bell \x07", "\u202eright to left",
		long, `"} 1` + "\n", strings.Repeat("\xff", 300), `\`, `\n`, "…", strings.Repeat("\"", 1000),
	}
	var found []inspect.LockInUse
	for i, text := range hostile {
		l := heldLock("/"+text, i)
		l.Head.Holder = lease.Holder{Who: text, Host: text, PID: -i}
		found = append(found, l)
	}
	e := exposition{}
	e.addLocks(found, ownPaths)
	read := parseScrape(t, e.String())
	require.Len(t, read["zkrecipes_lock_holder"], len(hostile))
	require.Len(t, read["zkrecipes_lock_holding"], len(hostile))
	for _, s := range read["zkrecipes_lock_holder"] {
		require.LessOrEqual(t, len(s.labels["holder"]), 256)
		require.LessOrEqual(t, len(s.labels["host"]), 256)
		require.LessOrEqual(t, len(s.labels["path"]), 1024)
		for _, value := range s.labels {
			require.NotContains(t, value, "\n")
			require.NotContains(t, value, "\x00")
			require.NotContains(t, value, "\u202e")
		}
	}
	require.Equal(t, 1, number(t, read, "zkrecipes_lock_holder", "holder", `quote " and \ backslash`), "ordinary text stays as it is")
	text := e.String()
	require.Equal(t, text, e.String(), "the order does not change")

	// A text that package quote would not have changed is made UTF-8 all the same.
	e = exposition{}
	e.add("zkrecipes_litter", 1, "kind", "a\xff\n")
	require.Equal(t, "a\uFFFD\n", parseScrape(t, e.String())["zkrecipes_litter"][0].labels["kind"])
}

// Two paths that are cut to the same label share a series: there are never two of one.
func TestCutPathsShareASeries(t *testing.T) {
	long := "/" + strings.Repeat("a", 5000)
	e := exposition{}
	e.addLocks([]inspect.LockInUse{heldLock(long+"1", 1), heldLock(long+"2", 2)}, ownPaths)
	read := parseScrape(t, e.String())
	require.Len(t, read["zkrecipes_lock_holding"], 1)
	require.Equal(t, 2, number(t, read, "zkrecipes_lock_holding"))
}

// Paths that differ only in what is escaped are two locks. An escaped one could look
// like another that has the escape sequence itself in its name.
func TestEscapedPathsAreNotMerged(t *testing.T) {
	paths := []string{"/a\u00a0b", `/a\u00a0b`, `/a\\u00a0b`, "/a\\\u00a0b", "/a\u200bb", `/a\u200bb`, "/a\xffb", `/a\xffb`, "/a\uFFFDb", `/a\b`, `/a\\b`, `/a"b`, `/a\"b`}
	e, found := exposition{}, []inspect.LockInUse{}
	for i, path := range paths {
		found = append(found, heldLock(path, i))
	}
	e.addLocks(found, ownPaths)
	read := parseScrape(t, e.String())
	require.Len(t, read["zkrecipes_lock_holding"], len(paths))
	require.Len(t, read["zkrecipes_lock_holder"], len(paths))
}

func TestNumbersAreWrittenInFull(t *testing.T) {
	e := exposition{}
	e.add("zkrecipes_locks_in_use", 1795725956.776)
	require.Contains(t, e.String(), "zkrecipes_locks_in_use 1795725956.776\n")
	e.add("zkrecipes_locks_in_use", 1e12)
	require.Contains(t, e.String(), fmt.Sprintf("zkrecipes_locks_in_use %d.776\n", int64(1e12)+1795725956))
}
