package zkprom_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/doctest"
	"github.com/zkrecipes/zkrecipes/labels"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A metric is what the table of README.md says about one, and what is scraped.
type metric struct{ kind, labels string }

// used has each metric occur, in a world.
func used(w *world) {
	w.T.Helper()
	held := w.Acquire(newMutex(w.T, w.measured("a")))
	w.T.Cleanup(func() { held.Release() })
}

// scraped returns all metrics that are scraped.
func scraped(w *world) map[string]metric {
	w.T.Helper()
	families, err := w.registry.Gather()
	require.NoError(w.T, err)
	all := map[string]metric{}
	for _, family := range families {
		var names []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			names = append(names, pair.GetName())
		}
		slices.Sort(names)
		all[family.GetName()] = metric{strings.ToLower(family.GetType().String()), strings.Join(names, " ")}
	}
	return all
}

func readme(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(tb, err)
	return string(text)
}

// rows returns the cells of those table rows of README.md whose first cell matches.
func rows(tb testing.TB, first string) (all [][]string) {
	tb.Helper()
	for line := range strings.Lines(readme(tb)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if strings.HasPrefix(line, "|") && regexp.MustCompile(first).MatchString(cells[0]) {
			all = append(all, cells)
		}
	}
	return all
}

// quoted returns what stands in backquotes, sorted and once each.
func quoted(cell string) []string {
	all := []string{}
	for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		all = append(all, found[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestReadmeListsTheMetrics(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		used(w)
		listed := map[string]metric{}
		for _, cells := range rows(t, "^`zkrecipes_") {
			require.Len(t, cells, 4)
			name := strings.Trim(cells[0], "`")
			require.NotContains(t, listed, name)
			listed[name] = metric{cells[1], strings.Join(quoted(cells[2]), " ")}
			assert.NotEmpty(t, cells[3])
		}
		assert.Equal(t, scraped(w), listed)
	})
}

// Queries use metrics that there are.
func TestReadmeNamesMetricsThatThereAre(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		used(w)
		all := scraped(w)
		for _, name := range regexp.MustCompile(`zkrecipes_[a-z_]+`).FindAllString(readme(t), -1) {
			family := name
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if of := strings.TrimSuffix(name, suffix); all[of].kind == "histogram" {
					family = of
				}
			}
			assert.Contains(t, all, family, name)
		}
	})
}

func TestReadmeListsTheValuesOfLabels(t *testing.T) {
	var states []string
	for state := framework.Connecting; state <= framework.Closed; state++ {
		states = append(states, state.String())
	}
	for first, want := range map[string][]string{
		"^`reason`$":                labels.Losses(),
		"^`recipe`$":                {lease.KindMutex, lease.KindReader, lease.KindWriter, lease.KindSemaphore, lease.KindLeader},
		"^`outcome` of an acquire$": {labels.Granted, labels.Reentered, labels.Timeout, labels.Canceled, labels.Closed, labels.Failed},
		"^`outcome` of a request$":  {framework.Done.String(), framework.Failed.String(), framework.Unknown.String()},
		"^`state`$":                 states,
	} {
		found := rows(t, first)
		require.Len(t, found, 1, first)
		slices.Sort(want)
		assert.Equal(t, want, quoted(found[0][1]), first)
	}
}

// README.md says how many series a lock has, once it was held.
func TestReadmeCountsTheSeries(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		used(w)
		ofLock, ofOutcome := 0, 0
		for line := range strings.Lines(w.scrape()) {
			if strings.Contains(line, `path="`+path+`"`) {
				ofLock++
			}
			if strings.Contains(line, `outcome="granted"`) {
				ofOutcome++
			}
		}
		assert.Regexp(t, fmt.Sprintf(`has %d\s+series, and %d more`, ofLock, ofOutcome), readme(t))
	})
}

// The metrics follow the conventions that Prometheus's own linter knows.
func TestMetricsAreConventional(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		used(w)
		w.After(time.Second)
		problems, err := testutil.GatherAndLint(w.registry)
		require.NoError(t, err)
		assert.Empty(t, problems)
	})
}

// The Go blocks of README.md compile.
func TestReadmeCompiles(t *testing.T) {
	found, blocks, err := doctest.GoBlocks(t.Context(), ".", []doctest.Page{doctest.NewPage("README.md", readme(t))})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Positive(t, blocks)
}
