package archtest

import (
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writeModule puts sources on disk, with a substitute for the ZooKeeper client.
func writeModule(t *testing.T, files sources) (root string) {
	t.Helper()
	root = t.TempDir()
	all := sources{
		"go.mod":        "module example.com/m\n\ngo 1.25.0\n\nrequire " + zkPath + " v1.0.4\n\nreplace " + zkPath + " => ./third\n",
		"third/go.mod":  "module " + zkPath + "\n",
		"third/zk.go":   "package zk\n\ntype Conn struct{}\n",
		"third/util.go": "package zk\n",
	}
	maps.Copy(all, files)
	for name, src := range all {
		full := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(src), 0o600))
	}
	return root
}

func TestLoadModuleReadsThisModuleAlone(t *testing.T) {
	t.Parallel()
	m, err := loadModule(writeModule(t, sources{
		"root.go":             "package m\n",
		"a/a.go":              "package a\n",
		"a/a_windows.go":      "package a\n",
		"a/notes.txt":         "not Go",
		"a/_draft.go":         "not Go",
		"a/testdata/bad.go":   "not Go",
		".hidden/bad.go":      "not Go",
		"only/tests_test.go":  "package only\n",
		"nested/go.mod":       "module nested\n",
		"nested/deep/deep.go": "package deep\n",
	}))
	require.NoError(t, err)
	assert.Equal(t, "example.com/m", m.path)
	assert.Equal(t, []string{".", "a", "only"}, slices.Sorted(maps.Keys(m.packages)))
	assert.Len(t, m.packages["a"].code(), 2)
	assert.Empty(t, m.packages["only"].code())
}

func TestLoadModuleReportsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	_, err := loadModule(writeModule(t, sources{"a/a.go": "package"}))
	require.ErrorContains(t, err, "a/a.go:1")
	_, err = loadModule(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestLoadTypesReadsWhatCompilesAndReportsWhatDoesNot(t *testing.T) {
	t.Parallel()
	root := writeModule(t, sources{
		"good/good.go":       "package good\n\nimport \"" + zkPath + "\"\n\ntype T struct{}\n\nfunc (T) Leak() *zk.Conn { return nil }\n",
		"bad/bad.go":         "package bad\n\nvar V missing\n",
		"tool/main.go":       "package main\n\nfunc main() {}\n",
		"only/tests_test.go": "package only\n",
	})
	m, err := loadModule(root)
	require.NoError(t, err)
	fset := token.NewFileSet()
	pkgs, err := loadTypes(t.Context(), m, root, fset)
	require.ErrorContains(t, err, "example.com/m/bad does not compile")
	require.ErrorContains(t, err, "undefined: missing")
	require.Len(t, pkgs, 1)
	expect(t, checkAPI(m, root, pkgs, fset), "good/good.go:7: exported good.T.Leak shows "+zkPath+".Conn")
}
