package faultsweep

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
)

// TestMutantsAreFound tests the tests: with each of the planted bugs, the tests must
// fail. It builds them with the changed file in place of the real one. The short form,
// and the race detector, only check that each bug can be planted and that the tests
// that must find it exist.
func TestMutantsAreFound(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	for _, m := range slices.Concat(Mutants(), RevocationMutants(), InspectMutants(), HistoryMutants(), TrustMutants(), ObserverMutants(), RequestMutants(), HoldMutants(), ParentMutants(), ViewMutants()) {
		t.Run(m.Name, func(t *testing.T) {
			overlay := m.plant(t, root)
			m.requireTests(t, root)
			if extent.Slowdown() > 1 {
				return
			}
			began := time.Now()
			output, passed := m.test(t, root, overlay)
			require.NotContains(t, output, "no tests to run")
			require.NotContains(t, output, "[build failed]")
			require.False(t, passed, "not found by %s in %s", m.Tests, m.Package)
			t.Logf("found after %v: %s", time.Since(began).Round(100*time.Millisecond), firstComplaint(output))
		})
	}
}

// plant writes the changed file and returns the file that describes the overlay.
func (m Mutant) plant(t *testing.T, root string) string {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(m.File))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), m.Old), "%s no longer has %q once: change the mutant with it", m.File, m.Old)
	dir := t.TempDir()
	changed := filepath.Join(dir, "changed.go")
	require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(string(text), m.Old, m.New, 1)), 0o600))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	require.NoError(t, err)
	name := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(name, overlay, 0o600))
	return name
}

var testNames, texts = regexp.MustCompile(`(?m)^func (Test\w+)\(`), regexp.MustCompile(`"([^"\n]*)"`)

// requireTests fails if no test has a name that the mutant's pattern matches. Names of
// subtests are looked for among all texts of the package.
func (m Mutant) requireTests(t *testing.T, root string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(m.Package), "*.go"))
	require.NoError(t, err)
	var source []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		source = append(source, text...)
	}
	names := testNames
	for pattern := range strings.SplitSeq(m.Tests, "/") {
		matches := slices.ContainsFunc(names.FindAllSubmatch(source, -1), func(name [][]byte) bool {
			return regexp.MustCompile(pattern).Match(bytes.ReplaceAll(name[1], []byte(" "), []byte("_")))
		})
		require.True(t, matches, "no test of %s is called %q", m.Package, pattern)
		names = texts
	}
}

// test runs the tests that must find the mutant.
func (m Mutant) test(t *testing.T, root, overlay string) (output string, passed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-vet=off", "-failfast", "-timeout=2m", "-run", m.Tests, m.Package)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "ZKRECIPES_SCHEDULES=1500", "ZKRECIPES_LONG=1")
	text, err := cmd.CombinedOutput()
	return string(text), err == nil
}

// firstComplaint is the first line of a failed test's output that says something.
func firstComplaint(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		for _, sign := range []string{"seed ", "I1", "I2", "I3", "I4", "I5", "errors:", "Error:", "Messages:", "panic:", "acquire has not"} {
			if strings.Contains(line, sign) {
				return line[:min(len(line), 160)]
			}
		}
	}
	return output[:min(len(output), 160)]
}
