package hosted

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

type dependabot struct {
	Updates []struct {
		Ecosystem   string   `yaml:"package-ecosystem"`
		Directories []string `yaml:"directories"`
	} `yaml:"updates"`
}

// checkModules checks that Dependabot has each folder with a go.mod, and no other, and
// the actions of the workflows.
func checkModules(files fs.FS) (found []string, seen int, err error) {
	all, err := read[dependabot](files, ".github/dependabot.yml", false)
	if err != nil {
		return nil, 0, err
	}
	actions := false
	var listed []string
	for _, u := range all[".github/dependabot.yml"].Updates {
		actions = actions || u.Ecosystem == "github-actions"
		if u.Ecosystem == "gomod" {
			listed = append(listed, u.Directories...)
		}
	}
	if !actions {
		found = append(found, "Dependabot does not have github-actions")
	}
	modules, err := folders(files)
	for _, m := range modules {
		if !slices.Contains(listed, m) {
			found = append(found, "Dependabot does not have the module in "+m)
		}
	}
	for _, l := range listed {
		if !slices.Contains(modules, l) {
			found = append(found, "there is no module in "+l)
		}
	}
	return found, len(modules), err
}

// folders returns those with a go.mod, as Dependabot names them.
func folders(files fs.FS) (all []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || name == "bin"):
			return fs.SkipDir
		case entry.Name() == "go.mod":
			all = append(all, path.Clean("/"+path.Dir(name)))
		}
		return nil
	})
	return all, err
}

func TestModulesAreHeld(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"go.mod": {}, "contrib/a/go.mod": {}, "bin/x/go.mod": {}, ".hidden/go.mod": {},
		".github/dependabot.yml": {Data: []byte("updates: [{package-ecosystem: gomod, directories: [/, /contrib/a]}, {package-ecosystem: github-actions}]")},
	}
	expect(t, checkModules, files)
	files["contrib/b/go.mod"] = &fstest.MapFile{}
	delete(files, "contrib/a/go.mod")
	expect(t, checkModules, files, "Dependabot does not have the module in /contrib/b", "there is no module in /contrib/a")
	delete(files, ".github/dependabot.yml")
	expect(t, checkModules, files, "Dependabot does not have github-actions", "Dependabot does not have the module in /",
		"Dependabot does not have the module in /contrib/b")
}
