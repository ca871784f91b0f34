//go:build unix

package main

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/doctest"
)

// documents are the pages for users, by their paths: not those for who works on the
// code, and not the log of what once was.
func documents(t *testing.T) map[string]doctest.Page {
	t.Helper()
	all, err := doctest.Pages(os.DirFS("../.."))
	require.NoError(t, err)
	pages := map[string]doctest.Page{}
	for _, page := range all {
		switch page.Path {
		case "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md", "integration/README.md":
		default:
			pages[page.Path] = page
		}
	}
	require.Greater(t, len(pages), 8)
	return pages
}

var (
	longFlags   = regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-z-]*[a-z])`)
	ourNames    = regexp.MustCompile(`ZKRECIPES_[A-Z_]*[A-Z](?:_\d+)?`)
	ourselves   = regexp.MustCompile(`(?:^|[ "(/])zkrecipes(?: |$)`)
	invocations = regexp.MustCompile(`(?:^|[ "(/])zkrecipes ([^` + "`" + `|]+)`)
	exitCodes   = regexp.MustCompile(`(?:^| )exits? (?:code |with )(\d+)`)
)

// commandLines returns what a page has in backquotes, and the lines of its blocks, each
// with those that continue it.
func commandLines(page doctest.Page) []doctest.Span {
	all := page.Spans()
	for _, b := range page.Blocks {
		if b.Info == "go" || b.Info == "go other" {
			continue
		}
		continued := false
		for i, line := range strings.Split(b.Text, "\n") {
			if strings.Contains(line, `["zkrecipes"`) { // in a manifest
				line = strings.NewReplacer("[", "", `"`, "", ",", "", "]", "").Replace(line)
			}
			if continued {
				all[len(all)-1].Text += line
			} else {
				all = append(all, doctest.Span{Text: line, Line: b.Line + i})
			}
			continued = strings.HasSuffix(line, "\\")
		}
	}
	return all
}

// flagsOn returns the long flags of zkrecipes on a page: those of its command lines, in
// front of the command that it runs, and what begins with a flag or a verb.
func flagsOn(page doctest.Page) (all []doctest.Span) {
	for _, s := range commandLines(page) {
		first, _, _ := strings.Cut(strings.TrimSpace(s.Text), " ")
		_, isVerb := findVerb(first)
		if !strings.HasPrefix(first, "-") && !isVerb && first != "args:" && !ourselves.MatchString(s.Text) {
			continue // a command line of another program
		}
		mine, _, _ := strings.Cut(s.Text, " -- ")
		for _, m := range longFlags.FindAllStringSubmatch(mine, -1) {
			all = append(all, doctest.Span{Text: m[1], Line: s.Line})
		}
	}
	return all
}

// A wrongName is what a page names and zkrecipes does not have.
type wrongName struct {
	line int
	what string
}

// wrongNames returns the flags, verbs, variables and exit codes on a page that do not
// exist, and counts all in found.
func wrongNames(page doctest.Page, found map[string]int) (all []wrongName) {
	wrong := func(line int, format string, args ...any) {
		all = append(all, wrongName{line, fmt.Sprintf(format, args...)})
	}
	for _, s := range commandLines(page) {
		for _, m := range invocations.FindAllStringSubmatch(s.Text, -1) {
			found["verb"]++
			for _, what := range wrongInInvocation(m[1]) {
				wrong(s.Line, "%s", what)
			}
		}
	}
	for _, flag := range flagsOn(page) {
		found["flag"]++
		if flag.Text != "help" && !slices.ContainsFunc(verbs(), func(v verb) bool { return v.flags().Lookup(flag.Text) != nil }) {
			wrong(flag.Line, "there is no flag --%s", flag.Text)
		}
	}
	for i, line := range page.Lines {
		for _, variable := range ourNames.FindAllString(line.Ours, -1) {
			found["variable"]++
			if !isOurVariable(variable) {
				wrong(i+1, "there is no variable %s", variable)
			}
		}
		for _, m := range exitCodes.FindAllStringSubmatch(line.Ours, -1) {
			found["exit code"]++
			if !slices.Contains(exitCodeNumbers(), m[1]) {
				wrong(i+1, "there is no exit code %s", m[1])
			}
		}
		for _, what := range wrongEvents(line.Ours) {
			wrong(i+1, "no event has %s", what)
		}
	}
	return all
}

// Every flag, verb, exit code, variable and event in the documents exists.
func TestDocumentsNameWhatExists(t *testing.T) {
	found := map[string]int{}
	for name, page := range documents(t) {
		for _, w := range wrongNames(page, found) {
			t.Errorf("%s:%d: %s; name what exists", name, w.line, w.what)
		}
	}
	require.Greater(t, found["verb"], 20)
	require.Greater(t, found["flag"], 40)
	require.Greater(t, found["variable"], 8)
	require.GreaterOrEqual(t, found["exit code"], 1)
}

// Mistakes on a page are found where they are.
func TestMistakesInDocumentsAreFound(t *testing.T) {
	page := doctest.NewPage("a.md", strings.Join([]string{
		"zkrecipes is fine, `kubectl --context x`, `zkrecipes run --try /a -- job --fast`, `--permits`, `elect --id`, `zkrecipes help run`", // 1
		"`zkrecipes runs /a`",                             // 2
		"`zkrecipes run --permit 3`",                      // 3
		"`--prmits N` and `elect --idd x`",                // 4
		"ZKRECIPES_SERVERS, ZKRECIPES_SERV",               // 5
		"exit code 75, exits with 74",                     // 6
		"| redis | zkrecipes |",                           // 7
		"|---|---|",                                       // 8
		"| `--theirs` | `--ours` |",                       // 9
		"```sh",                                           // 10
		"flock --nonblock x",                              // 11
		"A=1 zkrecipes run --timeout 3s \\",               // 12
		"  --lebel x -- job --fast",                       // 13
		`echo '{"event":"sold","lock":"/a","whoever":1}'`, // 14
		`echo '{"time":"now", "event": "acquired", "lock":"/a", "token":7}'`,
		"```",
		"```yaml", // 17
		`command: ["zkrecipes", "run", "/a", "--timeout", "3s", "--kill-afther", "9s", "--", "/job", "--fast"]`,
		"```",
	}, "\n"))
	var found []string
	for _, w := range wrongNames(page, map[string]int{}) {
		found = append(found, fmt.Sprintf("%d: %s", w.line, w.what))
	}
	require.ElementsMatch(t, []string{
		`2: there is no verb "runs"`, "3: zkrecipes run has no flag --permit", "3: there is no flag --permit", "4: there is no flag --prmits",
		"4: there is no flag --idd", "5: there is no variable ZKRECIPES_SERV", "6: there is no exit code 74", "9: there is no flag --ours",
		"12: zkrecipes run has no flag --lebel", "12: there is no flag --lebel", "14: no event has sold", "14: no event has whoever",
		"18: zkrecipes run has no flag --kill-afther", "18: there is no flag --kill-afther",
	}, found)
	tables := exitCodeTables(map[string]doctest.Page{"a.md": doctest.NewPage("a.md", strings.Join([]string{
		"# A", "| exit code | meaning |", "|---|---|", "| 75, 76 | 3 |", "", "| a | b |", "|---|---|", "| 1 | 2 |", "",
		"## Exit codes", "| what | flock | zkrecipes |", "|---|---|---|", "| it | 5 | 64 |", "## Next", "| a | b |", "|---|---|", "| 8 | 9 |",
	}, "\n"))})
	require.Equal(t, map[string]string{"a.md:2": "---| 75, 76 |", "a.md:11": "---|64|"}, tables)
}

// wrongInInvocation checks a command line, up to what its command is.
func wrongInInvocation(line string) (wrong []string) {
	line, _, _ = strings.Cut(line, " -- ")
	words := strings.Fields(line)
	if len(words) == 0 || !regexp.MustCompile(`^[a-z]+[.,:;)]*$`).MatchString(words[0]) {
		return nil // not a verb, as of "zkrecipes # a comment"
	}
	v, ok := findVerb(strings.TrimRight(words[0], ".,:;)"))
	if !ok {
		return []string{fmt.Sprintf("there is no verb %q", words[0])}
	}
	fs := v.flags()
	makeSettings(fs)
	for _, word := range words[1:] {
		if name, _, _ := strings.Cut(strings.TrimRight(word, ".,:;)\\"), "="); len(name) > 1 && name[0] == '-' && name != "--help" {
			if flags, _ := findFlags(fs, strings.TrimLeft(name, "-"), name[1] != '-'); len(flags) == 0 {
				wrong = append(wrong, "zkrecipes "+v.name+" has no flag "+name)
			}
		}
	}
	return wrong
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

// exitCodeTables returns the cells with exit codes of all tables that begin with "exit
// code", and of those in sections of that name.
func exitCodeTables(pages map[string]doctest.Page) map[string]string {
	tables := map[string]string{}
	for name, page := range pages {
		section, at := false, ""
		for i, line := range page.Lines {
			switch {
			case strings.HasPrefix(line.Text, "#"):
				section, at = strings.HasSuffix(line.Text, "# Exit codes"), ""
			case !strings.HasPrefix(line.Text, "|"):
				at = ""
			case at != "" && section:
				tables[at] += line.Ours + "|"
			case at != "":
				tables[at] += strings.Split(line.Text, "|")[1] + "|"
			case section, strings.HasPrefix(line.Text, "| exit code |"):
				at = name + ":" + strconv.Itoa(i+1)
			}
		}
	}
	return tables
}

// The tables of exit codes have none that there is not, and two have all of them: that
// of the command, and the one beside those of other commands.
func TestDocumentedExitCodes(t *testing.T) {
	known := append(exitCodeNumbers(), strconv.Itoa(exitSignal+int(syscall.SIGTERM)))
	complete := 0
	for at, table := range exitCodeTables(documents(t)) {
		numbers := regexp.MustCompile(`\d+`).FindAllString(table, -1)
		for _, number := range numbers {
			require.Contains(t, known, number, "%s: a code that zkrecipes does not have", at)
		}
		missing := slices.ContainsFunc([]int{exitUsage, exitUnavailable, exitConflict, exitLost, exitNoPerm, exitCannotRun, exitNotFound},
			func(code int) bool { return !slices.Contains(numbers, strconv.Itoa(code)) })
		if !missing {
			complete++
		}
	}
	require.GreaterOrEqual(t, complete, 2, "tables of exit codes with all of them")
}

// wrongEvents returns the kinds and fields that do not exist in a line with the JSON of
// an event.
func wrongEvents(line string) (wrong []string) {
	kind := regexp.MustCompile(`"event": ?"([^"]*)"`).FindStringSubmatch(line)
	if kind == nil {
		return nil
	}
	if !slices.ContainsFunc(eventKinds, func(k eventKind) bool { return k.name == kind[1] }) {
		wrong = append(wrong, kind[1])
	}
	fields := map[string]bool{}
	for _, of := range []reflect.Type{reflect.TypeFor[event](), reflect.TypeFor[holderJSON](), reflect.TypeFor[processName]()} {
		for field := range of.NumField() {
			fields[of.Field(field).Tag.Get("json")] = true
		}
	}
	for _, field := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(line, -1) {
		if !fields[field[1]] {
			wrong = append(wrong, field[1])
		}
	}
	return wrong
}

// The table has every short flag.
func TestDocumentedShortFlags(t *testing.T) {
	text, err := os.ReadFile("../../docs/coming-from-lock-commands.md")
	require.NoError(t, err)
	for _, short := range shortFlags {
		require.Contains(t, string(text), "`-"+string(short.letter))
	}
}
