package example_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// folder is that of the examples.
const folder = "../.."

// The README has a row and a command for each example, and nothing else: CI runs these
// commands. Its links are checked with those of all pages, in internal/proof/doctest.
func TestReadme(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	var rows, commands []string
	for _, m := range regexp.MustCompile("(?m)^\\|[^|]+\\| \\[`([a-z]+)`\\]\\(([a-z]+)\\) \\|").FindAllSubmatch(page, -1) {
		assert.Equal(t, string(m[1]), string(m[2]))
		rows = append(rows, string(m[1]))
	}
	_, block, found := strings.Cut(string(page), "\n```sh\n")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "\n```\n")
	for line := range strings.Lines(block) {
		m := regexp.MustCompile(`^(?:go run ./examples/([a-z]+)|\(cd examples/([a-z]+) && GOWORK=off go run \.\))\n?$`).FindStringSubmatch(line)
		require.NotNil(t, m, line)
		name := m[1] + m[2]
		commands = append(commands, name)
		_, err := os.Stat(filepath.Join(folder, name, "go.mod"))
		assert.Equal(t, m[2] != "", err == nil, "%s: a module of its own is run in its folder", name)
	}
	programs, err := filepath.Glob(filepath.Join(folder, "*", "main.go"))
	require.NoError(t, err)
	names := make([]string, len(programs))
	for i, program := range programs {
		names[i] = filepath.Base(filepath.Dir(program))
	}
	assert.ElementsMatch(t, names, rows, "the rows of the table")
	assert.ElementsMatch(t, names, commands, "the commands")
}
