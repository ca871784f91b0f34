package release

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// requireReleased: there is one more commit, which all tags are on, and it is clean.
func (r *repository) requireReleased(version, before string) {
	r.t.Helper()
	require.Equal(r.t, before, r.git("rev-parse", "HEAD~1"))
	require.Equal(r.t, "Release "+version, r.git("log", "-1", "--format=%s"))
	for _, tag := range tagsOf(version) {
		require.Equal(r.t, "tag", r.git("cat-file", "-t", tag), "an annotated tag")
		require.Equal(r.t, r.git("rev-parse", "HEAD"), r.git("rev-parse", tag+"^{commit}"))
	}
	require.Empty(r.t, r.git("status", "--porcelain"))
	require.Contains(r.t, r.read("contrib/a/go.mod"), "require "+root+" "+version+"\n")
	require.Contains(r.t, r.read("contrib/a/go.mod"), "replace "+root+" => ../..\n")
	require.NotContains(r.t, r.read("examples/x/go.mod"), "v0.0.0", "go mod tidy wants the version there, too")
}

func TestFirstRelease(t *testing.T) {
	r := newRepository(t)
	before, day := r.git("rev-parse", "HEAD"), today()
	out, code := r.run("release", "v0.1.0")
	require.Zero(t, code, out)
	r.requireReleased("v0.1.0", before)
	require.Equal(t, strings.Join(tagsOf("v0.1.0"), "\n"), r.git("tag"))
	require.Contains(t, out, "git push --atomic origin main v0.1.0 && git push --atomic origin contrib/a/v0.1.0\n")
	if text := "# Changelog\n\n## Unreleased\n\n## v0.1.0 - "; !strings.HasPrefix(r.read("CHANGELOG.md"), text+day+"\n") {
		require.Contains(t, r.read("CHANGELOG.md"), text+today()+"\n", "it was midnight")
	}
	require.True(t, strings.HasSuffix(r.read("CHANGELOG.md"), "\n\n- Everything.\n"))
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// What may follow v0.1.0, and with which changes.
func TestNextRelease(t *testing.T) {
	for name, test := range map[string]struct {
		version string
		change  func(r *repository)
	}{
		"a fix":           {"v0.1.1", func(r *repository) { r.replace("thing/thing.go", "done", "made") }},
		"an addition":     {"v0.2.0", func(r *repository) { r.write("thing/new.go", "package thing\n\nfunc New() {}\n") }},
		"the first major": {"v1.0.0", func(*repository) {}},
		"an incompatible change": {"v0.2.0", func(r *repository) {
			r.replace("thing/thing.go", "(t *T) Method()", "(t *T) Method(int)")
			r.unreleased("Incompatible: `thing.T.Method` takes a number.")
		}},
		"a module is added": {"v0.2.0", func(r *repository) {
			r.write("contrib/b/go.mod", "module "+root+"/contrib/b\n\ngo 1.25.0\n")
			r.write("contrib/b/b.go", "package b\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := releasedRepository(t)
			test.change(r)
			r.unreleased("Something else.")
			r.commit("Change")
			before := r.git("rev-parse", "HEAD")
			out, code := r.run("release", test.version)
			require.Zero(t, code, out)
			r.requireReleased(test.version, before)
		})
	}
}

// A fix for the users of v0.1.0, when v0.2.0 is there.
func TestPatchOfAnOlderLine(t *testing.T) {
	r := releasedRepository(t)
	r.unreleased("New.")
	r.write("thing/new.go", "package thing\n\nfunc New() {}\n")
	r.commit("Add")
	r.tagRelease("v0.2.0")
	r.git("switch", "--quiet", "--create", "release-0.1", "v0.1.0")
	r.unreleased("Fixed.")
	r.commit("Mend")
	before := r.git("rev-parse", "HEAD")
	out, code := r.run("release", "v0.1.1")
	require.Zero(t, code, out)
	r.requireReleased("v0.1.1", before)
	require.Contains(t, out, "git push --atomic origin release-0.1 v0.1.1 && git push --atomic origin contrib/a/v0.1.1\n")
}
