package integration

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The manual pages are read by groff without a warning, and a reader finds in them each
// word of the help.
func TestManPagesAsGroffPrintsThem(t *testing.T) {
	groff, err := exec.LookPath("groff")
	require.NoError(t, err, "run .ci/install-shells")
	program, err := built()
	require.NoError(t, err)
	dir := t.TempDir()
	out, err := exec.CommandContext(within(t, limit), program, "man", "--dir", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	pages, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, page := range pages {
		file := filepath.Join(dir, page.Name())
		var shown, warnings bytes.Buffer
		format := exec.CommandContext(within(t, limit), groff, "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=80n", file)
		format.Stdout, format.Stderr = &shown, &warnings
		require.NoError(t, format.Run(), "%s: %s", page.Name(), &warnings)
		assert.Empty(t, warnings.String(), page.Name())
		words := map[string]int{}
		for _, word := range strings.Fields(strings.ToLower(shown.String())) {
			words[strings.TrimSuffix(word, ":")]++
		}
		verb := strings.TrimPrefix(strings.TrimSuffix(page.Name(), ".1"), "zkrecipes-")
		if verb == "zkrecipes" {
			verb = "help"
		}
		help, err := exec.CommandContext(within(t, limit), program, "help", verb).Output()
		require.NoError(t, err)
		for _, word := range strings.Fields(strings.ToLower(strings.TrimPrefix(string(help), "usage: "))) {
			word = strings.TrimSuffix(word, ":")
			if words[word]--; words[word] < 0 && word != "-" { // "-" may be a bullet
				assert.Fail(t, "a word of the help is missing", "%s: %q", page.Name(), word)
			}
		}
		assert.NotContains(t, shown.String(), "‐", "%s: a word is broken at the end of a line", page.Name())
	}
}
