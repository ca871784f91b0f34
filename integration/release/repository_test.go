package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "github.com/zkrecipes/zkrecipes"

// smallTree has what the scripts rely on: modules below contrib, one that is not
// released and requires both, packages that are not part of the API.
var smallTree = map[string]string{
	"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- Everything.\n",
	"LICENSE":      "None.\n",
	"go.mod":       "module " + root + "\n\ngo 1.25.0\n",
	"thing/thing.go": `package thing

// T is exported.
type T struct{ Field int }

func (t *T) Method() {}

func Do() string { return "done" }
`,
	"thing/thing_test.go": passing("thing"),
	"other/other.go":      "package other\n\nfunc Do() {}\n",
	"internal/in/in.go":   "package in\n\nfunc Do() {}\n",
	"contrib/a/go.mod": "module " + root + "/contrib/a\n\ngo 1.25.0\n\nreplace " + root + " => ../..\n\n" +
		"require " + root + " v0.0.0-00010101000000-000000000000\n",
	"contrib/a/a.go":      "package zka\n\nimport \"" + root + "/thing\"\n\nfunc Do() string { return thing.Do() }\n",
	"contrib/a/a_test.go": passing("zka"),
	"examples/x/go.mod": "module " + root + "/examples/x\n\ngo 1.25.0\n\nreplace (\n\t" + root + " => ../..\n\t" + root + "/contrib/a => ../../contrib/a\n)\n\n" +
		"require " + root + "/contrib/a v0.0.0-00010101000000-000000000000\n\nrequire " + root + " v0.0.0-00010101000000-000000000000 // indirect\n",
	"examples/x/main.go":          "package main\n\nimport \"" + root + "/contrib/a\"\n\nfunc main() { println(zka.Do()) }\n",
	"examples/quickstart/main.go": "package main\n\nimport \"" + root + "/thing\"\n\nfunc main() { println(thing.Do()) }\n\nfunc Exported() {}\n",
	"cmd/zkrecipes/main.go": `package main

import (
	"fmt"
	"runtime/debug"
)

func main() {
	info, _ := debug.ReadBuildInfo()
	fmt.Printf("zkrecipes %s, of the tests\n", info.Main.Version)
}
`,
}

func passing(name string) string {
	return "package " + name + "\n\nimport \"testing\"\n\nfunc TestIt(*testing.T) {}\n"
}

// A repository is a temporary one, whose branch is main.
type repository struct {
	t   *testing.T
	dir string
}

// newRepository has the small tree in its first commit, and no tag.
func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir()}
	for name, text := range smallTree {
		r.write(name, text)
	}
	for _, name := range []string{"release", "apidiff", "set-version", "as-user", "go-tool", "history"} {
		script, err := os.ReadFile("../../.ci/" + name)
		require.NoError(t, err)
		r.write(".ci/"+name, string(script))
	}
	r.git("init", "--quiet", "--initial-branch=main")
	r.commit("Begin")
	return r
}

// releasedRepository has a commit and the tags of v0.1.0, and nothing after it.
func releasedRepository(t *testing.T) *repository {
	t.Helper()
	r := newRepository(t)
	r.tagRelease("v0.1.0")
	return r
}

// tagRelease makes the commit and the tags of a release without the script.
func (r *repository) tagRelease(version string) {
	r.t.Helper()
	out, code := r.run("set-version", version)
	require.Zero(r.t, code, out)
	r.replace("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n## "+version+" - 2026-01-02\n")
	r.commit("Release " + version)
	for _, tag := range tagsOf(version) {
		r.git("tag", "--annotate", "--message", tag, tag)
	}
}

func tagsOf(version string) []string { return []string{"contrib/a/" + version, version} }

// unreleased adds an entry to the changelog.
func (r *repository) unreleased(entry string) {
	r.t.Helper()
	r.replace("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n- "+entry+"\n")
}

func (r *repository) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(file), 0o755))
	mode := os.FileMode(0o644)
	if strings.HasPrefix(name, ".ci/") {
		mode = 0o755
	}
	require.NoError(r.t, os.WriteFile(file, []byte(text), mode))
}

func (r *repository) read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	require.NoError(r.t, err)
	return string(text)
}

func (r *repository) replace(name, before, after string) {
	r.t.Helper()
	text := r.read(name)
	require.Contains(r.t, text, before)
	r.write(name, strings.Replace(text, before, after, 1))
}

func (r *repository) commit(subject string) {
	r.t.Helper()
	r.git("add", "--all")
	r.git("commit", "--quiet", "--message", subject)
}

// git runs git without the settings of whoever runs the tests.
func (r *repository) git(args ...string) string {
	r.t.Helper()
	out, code := r.start(exec.CommandContext(r.t.Context(), "git", args...))
	require.Zero(r.t, code, "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(out)
}

// run runs one of the scripts, and returns what it has printed and its exit code.
func (r *repository) run(script string, args ...string) (out string, code int) {
	r.t.Helper()
	return r.start(exec.CommandContext(r.t.Context(), filepath.Join(r.dir, ".ci", script), args...))
}

func (r *repository) start(cmd *exec.Cmd) (out string, code int) {
	r.t.Helper()
	cmd.Dir = r.dir
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "GIT_") {
			cmd.Env = append(cmd.Env, setting)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		// Else git may still work in the background when the folder is removed.
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false", "GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(r.t, err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// state is all that a release may change, but for files in the tree that git ignores.
func (r *repository) state() string {
	r.t.Helper()
	return strings.Join([]string{
		r.git("for-each-ref"), r.git("rev-parse", "HEAD"), r.git("branch", "--show-current"), r.git("status", "--porcelain"),
		// What "git stash create" makes of these would have the time in its hash.
		r.git("diff", "HEAD"), r.git("diff", "--cached"),
	}, "\n")
}
