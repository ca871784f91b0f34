package release

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const withoutField = "incompatible thing.T.Field: removed"

func removeField(r *repository) { r.replace("thing/thing.go", "Field int", "") }

func TestApidiff(t *testing.T) {
	for name, test := range map[string]struct {
		change func(r *repository)
		code   int
		says   string
	}{
		"nothing":     {func(*repository) {}, 0, "\nnone\n"},
		"an addition": {func(r *repository) { r.write("thing/new.go", "package thing\n\nfunc New() {}\n") }, 0, "compatible thing.New: added"},
		"what is no API": {func(r *repository) {
			r.replace("internal/in/in.go", "Do", "Did")
			r.replace("examples/quickstart/main.go", "Exported", "Other")
			r.write("thing/export_test.go", "package thing\n\nfunc ForTests() {}\n")
		}, 0, "\nnone\n"},
		"removed":                         {removeField, 1, withoutField},
		"a method":                        {func(r *repository) { r.replace("thing/thing.go", "Method()", "Method(int)") }, 1, "Incompatible: `thing.T.Method`:"},
		"a package":                       {func(r *repository) { r.git("rm", "-rq", "other") }, 1, "Incompatible: `other`:"},
		"of a module that does not build": {func(r *repository) { r.replace("contrib/a/a.go", "Do() string", "Do()") }, 1, "too many return values"},
		"in a module":                     {func(r *repository) { r.replace("contrib/a/a.go", "func Do", "func Did") }, 1, "Incompatible: `zka.Do`:"},
		"a module":                        {func(r *repository) { r.git("rm", "-rq", "contrib/a") }, 1, "Incompatible: `contrib/a`:"},
		"no valid Go":                     {func(r *repository) { r.replace("other/other.go", "func", "fun") }, 1, "syntax error"},
		"a newer Go":                      {newerGo, 0, "compatible ./go.mod: Go 1.25.1 is needed, was 1.25.0"},
		"named":                           {marked("Incompatible: `thing.T.Field` is gone."), 0, withoutField},
		"named later":                     {marked("Incompatible: this is a long text, which goes on in the\n  next line: `thing.T.Field` is gone."), 0, withoutField},
		"named as other":                  {marked("Changed: `thing.T.Field` is gone."), 1, withoutField},
		"another name":                    {marked("Incompatible: `thing.T.Fields` is gone."), 1, withoutField},
		"in the entry behind":             {marked("Incompatible: `thing.T.Other` is gone.\n- But `thing.T.Field` is not."), 1, withoutField},
		"in an older release": {func(r *repository) {
			r.replace("CHANGELOG.md", "- Everything.", "- Incompatible: `thing.T.Field` is gone.")
			removeField(r)
		}, 1, withoutField},
	} {
		t.Run(name, func(t *testing.T) {
			r := releasedRepository(t)
			test.change(r)
			out, code := r.run("apidiff")
			require.Equal(t, test.code, code, out)
			require.Contains(t, out, test.says)
		})
	}
}

func marked(entry string) func(r *repository) {
	return func(r *repository) {
		removeField(r)
		r.unreleased(entry)
	}
}

func newerGo(r *repository) {
	for _, name := range []string{"go.mod", "contrib/a/go.mod", "examples/x/go.mod"} {
		r.replace(name, "go 1.25.0", "go 1.25.1")
	}
}

func TestApidiffBeforeTheFirstRelease(t *testing.T) {
	r := newRepository(t)
	out, code := r.run("apidiff")
	require.Zero(t, code, out)
	require.Contains(t, out, "There is no release")
}

// With the tag of v0.1.0 alone, v0.1.1 would be free, and all since v0.1.0 be new.
func TestApidiffWithoutTheLastTag(t *testing.T) {
	r := releasedRepository(t)
	r.unreleased("New.")
	r.commit("Change")
	r.tagRelease("v0.2.0")
	r.git("tag", "--delete", "v0.2.0", "contrib/a/v0.2.0")
	r.unreleased("Fixed.")
	r.commit("Mend")
	r.requireRefused("v0.1.1", "CHANGELOG.md has v0.2.0, and that tag is not here: git fetch --tags")
}

// A clone without the tags, as a build server may have, must not look like that.
func TestApidiffWithoutTheTags(t *testing.T) {
	origin := releasedRepository(t)
	removeField(origin)
	origin.commit("Change")
	for says, args := range map[string][]string{
		"git fetch --tags":      {"--no-tags"},
		"git fetch --unshallow": {"--depth=1"},
	} {
		clone := &repository{t: t, dir: t.TempDir()}
		clone.git(append([]string{"clone", "--quiet", "file://" + origin.dir, "."}, args...)...)
		out, code := clone.run("apidiff")
		require.Equal(t, 1, code, out)
		require.Contains(t, out, says)
	}
}
