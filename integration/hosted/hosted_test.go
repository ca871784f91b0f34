package hosted

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// A check finds problems in the files of a repository, and counts what it looked at.
type check func(files fs.FS) (problems []string, seen int, err error)

// The files of this repository are right.
func TestFilesOfTheHostedCI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		check check
		least int
	}{
		{"workflows", checkWorkflows, 20},
		{"modules", checkModules, 10},
		{"forms", checkForms, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			problems, seen, err := c.check(os.DirFS("../.."))
			require.NoError(t, err)
			for _, p := range problems {
				t.Error(p)
			}
			assert.GreaterOrEqual(t, seen, c.least, "the check finds too little: is it still right?")
		})
	}
}

// expect compares what a check finds in a small repository.
func expect(t *testing.T, c check, files fstest.MapFS, want ...string) {
	t.Helper()
	found, _, err := c(files)
	require.NoError(t, err)
	require.ElementsMatch(t, want, found)
}

// read decodes each YAML file of a pattern. An unknown key is an error if all are known.
func read[T any](files fs.FS, pattern string, allKnown bool) (map[string]T, error) {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	all := map[string]T{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		var into T
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(allKnown)
		if err := decoder.Decode(&into); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = into
	}
	return all, nil
}
