package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	namedTest = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	namedRows = regexp.MustCompile(`every recipe: ("[^"]+"(?:, "[^"]+")*)`)
	testFunc  = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
)

// Every test and row that docs/guarantees.md names exists.
func TestGuaranteesNameTestsThatExist(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	written := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range testFunc.FindAllSubmatch(text, -1) {
			written[string(found[1])] = true
		}
		return err
	})
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "docs", "guarantees.md"))
	require.NoError(t, err)
	named := namedTest.FindAllSubmatch(text, -1)
	require.Greater(t, len(named), 60, "the tests are named in backquotes")
	for _, name := range named {
		require.True(t, written[string(name[1])], "docs/guarantees.md names %s, which does not exist", name[1])
	}
	suite := conformanceSuite(t, root)
	namedOfSuite := namedRows.FindAllSubmatch(text, -1)
	require.Greater(t, len(namedOfSuite), 30)
	for _, rows := range namedOfSuite {
		for row := range strings.SplitSeq(string(rows[1]), ", ") {
			require.Contains(t, suite, row, "docs/guarantees.md names a row that does not exist")
		}
	}
}

// conformanceSuite returns the source of the conformance suite.
func conformanceSuite(t *testing.T, root string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal", "proof", "conformance", "suite*.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}
