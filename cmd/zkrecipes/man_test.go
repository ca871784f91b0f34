//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unescapes are what a formatter prints for escapes.
var unescapes = strings.NewReplacer(`\e`, `\`, `\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\&`, "", `\fB`, "", `\fP`, "")

// pageWords are the words of a page, and helpWords those of a help, sorted: lists are
// laid out otherwise, and headings in capitals.
func pageWords(page string) (words []string) {
	for line := range strings.SplitSeq(page, "\n") {
		if heading, ok := strings.CutPrefix(line, ".SH "); ok {
			line = heading
		}
		if !strings.HasPrefix(line, ".") {
			line = strings.TrimPrefix(strings.TrimSpace(unescapes.Replace(line)), bullet)
			words = append(words, strings.Fields(strings.ToLower(strings.TrimSuffix(line, ":")))...)
		}
	}
	slices.Sort(words)
	return words
}

func helpWords(help string) (words []string) {
	for line := range strings.SplitSeq(help, "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), bullet)
		for _, section := range sections {
			line = strings.Replace(line, section+": ", section+" ", 1)
		}
		words = append(words, strings.Fields(strings.ToLower(strings.TrimSuffix(line, ":")))...)
	}
	slices.Sort(words)
	return words
}

// Nothing of a help is lost, and nothing of it is taken for a command of roff.
func TestManPagesHaveAllWordsOfTheHelp(t *testing.T) {
	for _, v := range verbs() {
		_, body, _ := strings.Cut(v.help, "\n\n")
		r := &roff{}
		r.body(strings.Split(strings.TrimSpace(body), "\n"))
		require.Equal(t, helpWords(body), pageWords(r.out.String()), v.name)

		code, page, stderr := invoke(t, nil, "man", v.name)
		require.Equal(t, 0, code, stderr)
		depth := 0
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, ".") {
				require.Regexp(t, `^\.(TH "ZKRECIPES|nr HY 0|nh|ad l|SH [A-Z]|HP 4|PP|TP|IP \\\(bu 2|RS|RE|EX|EE)`, line)
			}
			require.NotContains(t, strings.ReplaceAll(line, `\-`, ""), "--", line)
			require.NotRegexp(t, `[^ -~\n]`, line)
			depth += strings.Count(line, ".RS") - strings.Count(line, ".RE")
		}
		require.Zero(t, depth, v.name)
		for _, form := range usage(v.help) {
			require.Contains(t, page, "\n"+escape(form)+"\n")
		}
		require.Contains(t, page, escape(" - "))
		for _, other := range verbs() {
			require.Equal(t, other.name != v.name, strings.Contains(page, "\n"+escape(other.pageName()+"(1)")), other.name)
		}
	}
}

// The layouts that a help may have.
func TestRoff(t *testing.T) {
	const help = `.profile is a name, 'as' \x1b ~ ^ are:
second line.

The flags:
  --one N         the first:
                  more of it
  --two WIDE[,VALUE],
  --three VALUE
                  of both
  an end          happens now; then
  ("or this")     it ends
  job     object with
    size       a number
    names      strings, as
               'a'
  A paragraph among them.
  - a point, which
    goes on
  - another one

Not below that heading:
  term  text

  $ ./run --now
  out   1   2
    - kept

  One line that is a paragraph, because it is longer than eighty columns, and none that would break if it is filled.
  Like this one.

Exit codes: 0 good;
64 bad.

Examples:
  How it is:
      .run 'it' \
        --now
`
	const want = `.PP
\&.profile is a name, \(aqas\(aq \ex1b \(ti \(ha are:
second line.
.PP
\fBThe flags:\fP
.RS 2
.TP
\fB\-\-one N\fP
the first:
more of it
.TP
\fB\-\-two WIDE[,VALUE], \-\-three VALUE\fP
of both
.TP
\fBan end ("or this")\fP
happens now; then
it ends
.TP
\fBjob\fP
object with
.RS
.TP
\fBsize\fP
a number
.TP
\fBnames\fP
strings, as
\(aqa\(aq
.RE
.PP
A paragraph among them.
.IP \(bu 2
a point, which
goes on
.IP \(bu 2
another one
.RE
.PP
\fBNot below that heading:\fP
.RS 2
.TP
\fBterm\fP
text
.PP
.RS 4
.EX
$ ./run \-\-now
out   1   2
  \- kept
.EE
.RE
.PP
One line that is a paragraph, because it is longer than eighty columns, and none that would break if it is filled.
Like this one.
.RE
.SH EXIT CODES
0 good;
64 bad.
.SH EXAMPLES
.PP
How it is:
.PP
.RS 4
.EX
\&.run \(aqit\(aq \e
  \-\-now
.EE
.RE
`
	r := &roff{}
	r.body(strings.Split(strings.TrimSpace(help), "\n"))
	require.Equal(t, want, r.out.String())

	r = &roff{}
	r.body([]string{"Text:", "", "  some output", "    below", "", "  Long lines, which are a paragraph, as they are longer than a terminal of eighty columns is wide.", "Text."})
	require.Equal(t, ".PP\nText:\n.PP\n.RS 4\n.EX\nsome output\n  below\n.EE\n.RE\n.PP\n"+
		"Long lines, which are a paragraph, as they are longer than a terminal of eighty columns is wide.\n.PP\nText.\n", r.out.String())
}

func TestManFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "man1")
	code, stdout, stderr := invoke(t, nil, "man", "--dir", dir)
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stdout)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, len(verbs()))
	for name, verb := range map[string]string{"zkrecipes.1": "help", "zkrecipes-run.1": "run"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		_, page, _ := invoke(t, nil, "man", verb)
		require.Equal(t, page, string(text))
	}
	_, overview, _ := invoke(t, nil, "man")
	require.Contains(t, overview, "\nzkrecipes \\- runs commands under ZooKeeper locks\n")
	run, _ := findVerb("run")
	require.Contains(t, run.manPage(build{Version: "v1.2.3", CommitTime: "2026-11-26T17:00:00Z"}),
		`.TH "ZKRECIPES-RUN" 1 "2026-11-26" "zkrecipes v1.2.3" "User Commands"`+"\n")

	for args, says := range map[string]string{
		"man rum": `no manual page on "rum"; did you mean "run"?`, "man ls me": `no manual page on "ls me"; there are run`,
		"man --dir /x run": `man: --dir writes all pages: what is "run"?`, "man --dir=": "--dir is empty",
	} {
		code, stdout, stderr = invoke(t, nil, strings.Fields(args)...)
		require.Equal(t, exitUsage, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, says)
	}
	code, _, stderr = invoke(t, nil, "man", "--dir", filepath.Join(dir, "zkrecipes.1"))
	require.Equal(t, exitUnavailable, code)
	require.Contains(t, stderr, "man: mkdir ")
}
