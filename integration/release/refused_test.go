package release

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A release that is refused leaves no tag, no commit and no change.
func TestRefused(t *testing.T) {
	nothing := func(*repository) {}
	onBranch := func(name string) func(*repository) {
		return func(r *repository) { r.git("switch", "--quiet", "--create", name) }
	}
	for name, test := range map[string]struct {
		version string
		change  func(r *repository)
		says    string
	}{
		"no version":               {"", nothing, "is no version like"},
		"two numbers":              {"v0.2", nothing, "is no version like"},
		"without the v":            {"0.2.0", nothing, "is no version like"},
		"a leading zero":           {"v0.02.0", nothing, "is no version like"},
		"a pre-release":            {"v0.2.0-rc.1", nothing, "There are no pre-releases"},
		"version 2":                {"v2.0.0", nothing, "nothing is prepared"},
		"it exists":                {"v0.1.0", nothing, "the tag v0.1.0 exists"},
		"a tag of a module exists": {"v0.2.0", func(r *repository) { r.git("tag", "contrib/a/v0.2.0") }, "the tag contrib/a/v0.2.0 exists"},
		"it is smaller":            {"v0.0.9", nothing, "what can follow v0.1.0 is one of v0.1.1 v0.2.0 v1.0.0"},
		"a number is left out":     {"v0.3.0", nothing, "what can follow v0.1.0"},
		"a greater one exists": {"v0.1.1", func(r *repository) {
			r.git("switch", "--quiet", "--create", "aside")
			r.git("commit", "--quiet", "--allow-empty", "--message", "Go on")
			r.git("tag", "v0.2.0")
			r.git("switch", "--quiet", "main")
		}, "v0.2.0 exists, which is newer"},
		"another branch":           {"v0.2.0", onBranch("work"), "not on work"},
		"the branch of other ones": {"v0.2.0", onBranch("release-0.1"), "not on release-0.1"},
		"no branch":                {"v0.2.0", func(r *repository) { r.git("switch", "--quiet", "--detach") }, "HEAD is on no branch"},
		"a change":                 {"v0.2.0", func(r *repository) { r.replace("LICENSE", "None", "Some") }, "not committed"},
		"a new file":               {"v0.2.0", func(r *repository) { r.write("new", "") }, "not committed"},
		"nothing to say": {"v0.2.0", func(r *repository) {
			r.replace("CHANGELOG.md", "- Something.\n", "")
			r.commit("Say nothing")
		}, "no entry"},
		"a page denies it": {"v0.2.0", func(r *repository) {
			r.write("docs/installing.md", "There is no release yet. Until there is one, wait.\n")
			r.commit("Deny")
		}, "take that out"},
	} {
		t.Run(name, func(t *testing.T) {
			r := releasedRepository(t)
			r.unreleased("Something.")
			r.commit("Change")
			test.change(r)
			r.requireRefused(test.version, test.says)
		})
	}
}

func (r *repository) requireRefused(version, says string) {
	r.t.Helper()
	before := r.state()
	out, code := r.run("release", version)
	require.NotZero(r.t, code, out)
	require.Contains(r.t, out, says)
	require.Equal(r.t, before, r.state())
}

// What is committed must be fit for the number, and for a user.
func TestTreeRefused(t *testing.T) {
	failing := "package zka\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) { t.Fatal(\"planted\") }\n"
	for name, test := range map[string]struct {
		version string
		change  func(r *repository)
		says    string
	}{
		"incompatible in a patch": {"v0.1.1", func(r *repository) {
			r.replace("thing/thing.go", "Do() string", "Did() string")
			r.replace("contrib/a/a.go", "thing.Do", "thing.Did")
			r.unreleased("Incompatible: `thing.Do` is gone.")
		}, "would be a patch release, and the API has changed"},
		"incompatible, and not named": {"v0.2.0", func(r *repository) {
			r.replace("thing/thing.go", "Field int", "Field string")
		}, "- Incompatible: `thing.T.Field`: "},
		"an addition in a patch": {"v0.1.1", func(r *repository) {
			r.write("thing/new.go", "package thing\n\nfunc New() {}\n")
		}, "would be a patch release, and the API has changed"},
		"a newer Go in a patch": {"v0.1.1", newerGo, "and the API has changed"},
		"an incompatible field of JSON in a patch": {"v0.1.1", func(r *repository) {
			r.unreleased("Incompatible: `ls --json` has no \"others\".")
		}, "has an entry \"Incompatible:\""},
		"a test of the module fails":        {"v0.2.0", func(r *repository) { r.write("contrib/a/a_test.go", failing) }, "planted"},
		"a test of a module does not build": {"v0.2.0", func(r *repository) { r.write("contrib/a/b_test.go", "package zka\n\nvar _ = none\n") }, "undefined: none"},
		"the module does not fit this tree": {"v0.2.0", func(r *repository) {
			r.replace("thing/thing.go", "Do() string", "Did() string")
			r.unreleased("Incompatible: `thing.Do` is gone.")
		}, "undefined: thing.Do"},
		"not tidy": {"v0.2.0", func(r *repository) {
			r.replace("examples/x/go.mod", "=> ../../contrib/a\n)", "=> ../../contrib/a\n)\n\nrequire example.com/none v1.0.0\n\nreplace example.com/none => ../../contrib/a")
		}, "examples/x/go.mod is not tidy"},
		"file names that are equal on Windows and macOS": {"v0.2.0", func(r *repository) {
			r.write("thing/README", "")
			r.write("thing/readme", "")
		}, "case-insensitive file name collision"},
		"a replace in the root module": {"v0.2.0", func(r *repository) {
			r.replace("go.mod", "go 1.25.0\n", "go 1.25.0\n\nreplace example.com/none => ./none\n")
		}, "providing named packages contains one or"},
		"a package that is not there for users": {"v0.2.0", func(r *repository) {
			r.write("none/go.mod", "module "+root+"/none\n\ngo 1.25.0\n")
			r.write("none/none.go", "package none\n")
			r.replace("go.mod", "go 1.25.0\n", "go 1.25.0\n\nrequire "+root+"/none v0.0.0\n\nreplace "+root+"/none => ./none\n")
			r.replace("other/other.go", "package other\n", "package other\n\nimport _ \""+root+"/none\"\n")
			r.replace("contrib/a/go.mod", "=> ../..\n", "=> ../..\n\nreplace "+root+"/none => ../../none\n")
		}, "unknown revision none/v0.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := releasedRepository(t)
			test.change(r)
			r.unreleased("Something else.")
			r.commit("Change")
			r.requireRefused(test.version, test.says)
		})
	}
}

// While the tests of a release run, somebody works on.
func TestMovesMeanwhile(t *testing.T) {
	for name, test := range map[string]struct{ command, says string }{
		"a commit":            {"git commit --quiet --allow-empty --message Meanwhile", "main has moved"},
		"a change":            {"echo more >>CHANGELOG.md", "would be overwritten"},
		"another branch":      {"git switch --quiet --create meanwhile", "main has moved"},
		"a tag of that name":  {"git tag v0.2.0", "there is a tag of v0.2.0 by now"},
		"a tag of one module": {"git tag contrib/a/v0.2.0", "there is a tag of v0.2.0 by now"},
	} {
		t.Run(name, func(t *testing.T) {
			r := releasedRepository(t)
			r.unreleased("Something.")
			r.write("thing/thing_test.go", meanwhile(r.dir, test.command))
			r.commit("Change")
			head := r.git("rev-parse", "HEAD")
			out, code := r.run("release", "v0.2.0")
			require.NotZero(t, code, out)
			require.Contains(t, out, test.says)
			require.Empty(t, r.git("log", "--all", "--format=%s", "--grep=^Release v0.2.0$"))
			require.LessOrEqual(t, len(r.git("tag", "--list", "*v0.2.0")), len("contrib/a/v0.2.0"), "not one more")
			require.Equal(t, head, r.git("rev-list", "--max-count=1", "--grep=^Change$", "HEAD"))
		})
	}
}

// meanwhile is a test that runs a command in the repository.
func meanwhile(dir, command string) string {
	return `package thing

import (
	"os/exec"
	"testing"
)

func TestMeanwhile(t *testing.T) {
	cmd := exec.Command("sh", "-c", ` + "`" + command + "`" + `)
	cmd.Dir = ` + "`" + filepath.Clean(dir) + "`" + `
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
}
`
}
