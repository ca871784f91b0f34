package faultsweep

import (
	"bufio"
	"context"
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
// fail, and without them pass. The short form, and the race detector, only check that
// each bug can be planted and that the tests that must find it exist.
func TestMutantsAreFound(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	together, passing, names := newPlanting(t, root), map[string]bool{}, namesOf(t, root)
	for _, m := range slices.Concat(Mutants(), RevocationMutants(), InspectMutants(), CommandMutants(), ForceMutants(), HistoryMutants(), TrustMutants(), ObserverMutants(), RequestMutants(), TransportMutants(), HoldMutants(), ParentMutants(), ViewMutants(), HandOverMutants(), FrameworkHandOverMutants(), HandOverHistoryMutants(), MultiLockHistoryMutants(), AsyncMutants(), GroupMutants(), ListingMutants(), GroupHistoryMutants(), SessionMutants(), UnansweredMutants(), CrowdMutants(), MultiLockMutants(), StripedMutants(), OnceMutants(), SweepMutants(), DelayMutants(), RestMutants(), NextMutants(), OwnedMutants(), LockOrderMutants(), CycleMutants(), InUseMutants(), ExporterMutants()) {
		t.Run(m.Name, func(t *testing.T) {
			text, changed := m.change(t, root)
			m.requireTests(t, names(m.Package))
			if extent.Slowdown() > 1 {
				return
			}
			p := together
			if !p.add(m, text, changed) {
				p = newPlanting(t, root)
				p.files[m.File], p.packages[m.Package] = changed, true
			}
			tests := m.Package + m.Tests
			tryWithout := p == together && !passing[tests]
			passing[tests] = passing[tests] || tryWithout
			t.Parallel()
			require.Empty(t, p.build())
			if tryWithout {
				require.Empty(t, m.test(t, p, afew...), "without any mutant")
			}
			began := time.Now()
			complaint := m.test(t, p, "ZKRECIPES_SCHEDULES=1500", "ZKRECIPES_LONG=1", plantedVariable+"="+m.Name)
			require.NotEmpty(t, complaint, "not found by %s in %s", m.Tests, m.Package)
			require.NotContains(t, complaint, "test timed out")
			t.Logf("found after %v: %s", time.Since(began).Round(100*time.Millisecond), complaint)
		})
	}
}

// afew are enough plans, histories and crowds to show that a test passes without any
// mutant: other tests run all of them.
var afew = []string{"ZKRECIPES_SCHEDULES=45", "ZKRECIPES_CROWDS=3"}

// change returns the text of the mutant's file, and the changed text.
func (m Mutant) change(t *testing.T, root string) (text, changed string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	require.NoError(t, err)
	text = string(content)
	require.Equal(t, 1, strings.Count(text, m.Old), "%s no longer has %q once: change the mutant with it", m.File, m.Old)
	return text, strings.Replace(text, m.Old, m.New, 1)
}

var testNames, texts = regexp.MustCompile(`(?m)^func (Test\w+)\(`), regexp.MustCompile(`"([^"\n]*)"`)

// names are those of the tests of a package, and all its texts, of which some are names
// of subtests, as "go test -run" knows them.
type names struct{ tests, texts []string }

// namesOf reads them once for each package.
func namesOf(t *testing.T, root string) func(pkg string) names {
	known := map[string]names{}
	return func(pkg string) (n names) {
		t.Helper()
		if seen, ok := known[pkg]; ok {
			return seen
		}
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, found := range testNames.FindAllSubmatch(text, -1) {
				n.tests = append(n.tests, string(found[1]))
			}
			for _, found := range texts.FindAllSubmatch(text, -1) {
				n.texts = append(n.texts, strings.ReplaceAll(string(found[1]), " ", "_"))
			}
		}
		known[pkg] = n
		return n
	}
}

// requireTests fails if no test has a name that the mutant's pattern matches. Names of
// subtests are looked for among all texts of the package.
func (m Mutant) requireTests(t *testing.T, of names) {
	t.Helper()
	all := of.tests
	for pattern := range strings.SplitSeq(m.Tests, "/") {
		require.True(t, slices.ContainsFunc(all, regexp.MustCompile(pattern).MatchString), "no test of %s is called %q", m.Package, pattern)
		all = of.texts
	}
}

// complaints are lines of tests that fail.
var complaints = regexp.MustCompile(`^\s*Error:  |^panic: |^fatal error: |\bI[1-8]( to I3)?: `)

// test runs the tests that must find the mutant until one complains, and returns the
// complaint.
func (m Mutant) test(t *testing.T, p *planting, env ...string) (complaint string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, filepath.Base(m.Package)+".test"), "-test.v", "-test.failfast", "-test.timeout=2m", "-test.run="+m.Tests)
	cmd.Dir = filepath.Join(p.root, filepath.FromSlash(m.Package))
	cmd.Env = append(cmd.Environ(), "ZKRECIPES_LONG=")
	cmd.Env = append(cmd.Env, env...)
	output := must(cmd.StdoutPipe())
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	for lines := bufio.NewReader(output); complaint == ""; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		require.NotContains(t, line, "no tests to run")
		if complaints.MatchString(line) {
			complaint = strings.TrimSpace(line)
			cancel() // with some mutants, the end of a test that has failed waits for ever
		}
	}
	if err := cmd.Wait(); err != nil && complaint == "" {
		complaint = err.Error()
	}
	return complaint[:min(len(complaint), 160)]
}
