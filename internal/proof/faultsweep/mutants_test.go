package faultsweep

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
)

// TestMutantsAreFound is the test of the tests: with each of the planted bugs, the
// tests must fail. It builds them with the changed file laid over the real one. In the
// short form it only makes sure that the bugs can be planted, and with the race
// detector, without which the tests would be built all the same.
func TestMutantsAreFound(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	for _, m := range slices.Concat(Mutants(), RevocationMutants(), HistoryMutants(), TrustMutants()) {
		t.Run(m.Name, func(t *testing.T) {
			overlay := m.plant(t, root)
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

// plant writes the changed file and returns the description of the overlay.
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
