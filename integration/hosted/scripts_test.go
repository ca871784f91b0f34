package hosted

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// scratch is a git repository with these files and scripts of ours.
func scratch(t *testing.T, files map[string]string, scripts ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, script := range scripts {
		text, err := os.ReadFile("../../" + script)
		require.NoError(t, err)
		write(t, dir, script, string(text))
	}
	for name, text := range files {
		write(t, dir, name, text)
	}
	run(t, dir, true, "git", "init", "--quiet")
	run(t, dir, true, "git", "add", ".")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o755)) //nolint:gosec // scripts are among them
}

// run returns what a command prints, on both outputs.
func run(t *testing.T, dir string, succeeds bool, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.Equal(t, succeeds, err == nil, "%s %v: %v\n%s", name, args, err, out)
	return string(out)
}

// A vulnerability that only one of the nested modules reaches is found, and the modules
// after it are looked at as well. The database is our own: that of vuln.go.dev differs
// from day to day, and cannot be reached from everywhere.
func TestVulnerabilitiesAreFoundInEachModule(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{
		"go.mod":          "module x\n\ngo 1.25\n",
		"x.go":            "package x\n\nimport _ \"net/url\"\n",
		"nested/a/go.mod": "module x/nested/a\n\ngo 1.25\n",
		"nested/a/a.go":   "package a\n\nimport \"net/url\"\n\nfunc A() { _, _ = url.Parse(\"a\") }\n",
		"nested/b/go.mod": "module x/nested/b\n\ngo 1.25\n",
		"nested/b/b.go":   "package b\n",
	}, ".ci/govulncheck", ".ci/go-tool")
	const entry = `"id":"GO-2000-0001","modified":"2000-01-01T00:00:00Z"`
	database := t.TempDir()
	for name, text := range map[string]string{
		"index/db.json":      `{"modified":"2000-01-01T00:00:00Z"}`,
		"index/vulns.json":   `[{` + entry + `}]`,
		"index/modules.json": `[{"path":"stdlib","vulns":[{` + entry + `}]}]`,
		"ID/GO-2000-0001.json": `{"schema_version":"1.3.1",` + entry + `,"affected":[{"package":{"name":"stdlib","ecosystem":"Go"},
			"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
			"ecosystem_specific":{"imports":[{"path":"net/url","symbols":["Parse"]}]}}]}`,
		"none/index/db.json":      `{"modified":"2000-01-01T00:00:00Z"}`,
		"none/index/vulns.json":   `[]`,
		"none/index/modules.json": `[]`,
	} {
		write(t, database, name, text)
	}
	out := run(t, dir, false, ".ci/govulncheck", "-db", "file://"+database)
	require.Contains(t, out, "GO-2000-0001")
	require.Contains(t, out, "=== nested/b")
	require.Contains(t, out, "govulncheck failed in: nested/a\n")
	run(t, dir, true, ".ci/govulncheck", "-db", "file://"+filepath.Join(database, "none"))
	// A database that does not answer is no success.
	run(t, dir, false, ".ci/govulncheck", "-db", "file://"+filepath.Join(database, "gone"))
}

func TestNotesOfARelease(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{
		"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- New.\n\n## v0.10.0 - 2026-01-02\n\n- Ten ([x](docs/x.md#a), [y](Y.md), [z](https://z)),\n  again.\n- More.\n  - Below,\n    in\n    3 lines.\n\nA text\nof two.\n\n    not   one\n    text\n\n```\nnor\nthis\n```\n\n## v0.1.0 - 2026-01-01\n\n## v0.0.1\n\n- First.\n",
	}, ".ci/release-notes")
	const at = "https://github.com/zkrecipes/zkrecipes/blob/v0.10.0/"
	require.Equal(t, "- Ten ([x]("+at+"docs/x.md#a), [y]("+at+"Y.md), [z](https://z)), again.\n- More.\n  - Below, in 3 lines.\n\n"+
		"A text of two.\n\n    not   one\n    text\n\n```\nnor\nthis\n```\n\n",
		run(t, dir, true, ".ci/release-notes", "v0.10.0"))
	require.Equal(t, "- First.\n", run(t, dir, true, ".ci/release-notes", "v0.0.1"))
	for _, version := range []string{"v0.1.0", "v0.1", "v1.0.0", "0.0.1", ""} {
		run(t, dir, false, ".ci/release-notes", version)
	}
}

// Files are published of a tag on main or on the branch for its fixes only, and only
// the newest version becomes the latest.
func TestPlaceOfARelease(t *testing.T) {
	t.Parallel()
	dir := scratch(t, nil, ".ci/release-place")
	git := func(args ...string) {
		run(t, dir, true, "git", append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgSign=false"}, args...)...)
	}
	tag := func(version string) {
		git("commit", "--quiet", "--allow-empty", "--message", "Release "+version)
		git("tag", "--no-sign", version)
	}
	push := func(branch string) { git("update-ref", "refs/remotes/origin/"+branch, "HEAD") }
	place := func(version string) string { return run(t, dir, true, ".ci/release-place", version) }
	refused := func(version, says string) {
		require.Contains(t, run(t, dir, false, ".ci/release-place", version), says)
	}

	tag("v0.1.0")
	refused("v0.1.0", "neither on main nor on release-0.1")
	push("main")
	require.Equal(t, "latest=true\n", place("v0.1.0"))
	tag("v0.9.0")
	tag("v0.10.0")
	push("main")
	require.Equal(t, "latest=true\n", place("v0.10.0"))
	refused("v0.1.0", "not the commit that is checked out")
	git("switch", "--quiet", "--detach", "v0.1.0")
	require.Equal(t, "latest=false\n", place("v0.1.0"))
	tag("v0.1.1")
	push("release-0.2")
	refused("v0.1.1", "neither on main nor on release-0.1")
	push("release-0.1")
	require.Equal(t, "latest=false\n", place("v0.1.1"))
	for _, version := range []string{"v0.1.2", "main", ""} {
		run(t, dir, false, ".ci/release-place", version)
	}
}
