package monitoring

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// What the rules, the dashboard and the page about them name is there when a program and
// the exporter are scraped.
func TestFilesNameWhatIsMeasured(t *testing.T) {
	t.Parallel() // it mostly waits
	server := zktest.NewServer(t)
	program := startProgram(t)
	use(t, program, server)
	prometheus := startPrometheus(t, shipped(t), map[string]string{"shop": program.addr, exporterJob: startExporter(t, server.Addr())})
	prometheus.awaitData("zkrecipes_acquires_waiting == 1")
	prometheus.awaitData("zkrecipes_lock_waiting == 1")
	d, measured := theDashboard(t), namesOf(prometheus.series())
	for _, r := range alertRules(t) {
		measured.check(t, r.Alert, r.Expr+r.Annotations["description"])
	}
	for name, from := range d.selectors(t) {
		measured.check(t, "variable "+name, from[0])
		assertHasLabel(t, prometheus.awaitData(from[0]), "variable "+name, from[1])
	}
	for name := range metricsIn(documentation(t)) {
		assert.Contains(t, measured, name, docs)
	}
	for _, page := range pages {
		for _, query := range queriesIn(t, page) {
			measured.check(t, page, query)
		}
	}
	assertAllAreShown(t, d, measured)
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			measured.check(t, p.Title, q.Expr)
		}
		assertHasData(t, d, p, prometheus)
	}
}

// names are the names of metrics, and the labels of each.
type names map[string]map[string]bool

func namesOf(series []map[string]string) names {
	all := names{}
	for _, labels := range series {
		of := all[labels["__name__"]]
		if of == nil {
			of = map[string]bool{}
			all[labels["__name__"]] = of
		}
		for label := range labels {
			of[label] = true
		}
	}
	return all
}

var (
	metricNames = regexp.MustCompile(`\bzkrecipes_[a-z_]*[a-z]\b`)
	// selectorsIn are a metric and what is in the braces behind it.
	selectorsIn = regexp.MustCompile(`\b(zkrecipes_[a-z_]+)\{([^}]*)\}`)
	matchersIn  = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)(?:"|%q)`)
	groupings   = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right) ?\(([^)]+)\)`)
)

func metricsIn(text string) map[string]bool {
	found := map[string]bool{}
	for _, name := range metricNames.FindAllString(text, -1) {
		found[name] = true
	}
	return found
}

// check checks the metrics in an expression, and the labels that it selects and groups
// by.
func (n names) check(t *testing.T, what, expr string) {
	t.Helper()
	labels := map[string]bool{"job": true, "instance": true} // up has them as well
	for name := range metricsIn(expr) {
		assert.Contains(t, n, name, what)
		maps.Copy(labels, n[name])
	}
	for _, s := range selectorsIn.FindAllStringSubmatch(expr, -1) {
		for _, m := range matchersIn.FindAllStringSubmatch(s[2], -1) {
			assert.True(t, n[s[1]][m[1]], "%s: %s has no label %q", what, s[1], m[1])
		}
	}
	for _, g := range groupings.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(g[1], ",") {
			assert.True(t, labels[strings.TrimSpace(label)], "%s: nothing has a label %q", what, label)
		}
	}
}

// assertAllAreShown checks that each metric is on the dashboard, or is one of those that
// the page says are not.
func assertAllAreShown(t *testing.T, d *dashboard, measured names) {
	t.Helper()
	shown := map[string]bool{}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			maps.Copy(shown, metricsIn(q.Expr))
		}
	}
	histogram := regexp.MustCompile(`_(bucket|sum|count)$`)
	missing := map[string]bool{}
	for name := range measured {
		base := histogram.ReplaceAllString(name, "")
		if !shown[name] && !shown[base+"_bucket"] {
			missing[name] = true
		}
	}
	_, rest, found := strings.Cut(documentation(t), "\nNot on the dashboard: ")
	require.True(t, found)
	paragraph, _, _ := strings.Cut(rest, "\n\n")
	assert.Equal(t, slices.Sorted(maps.Keys(missing)), slices.Sorted(maps.Keys(metricsIn(paragraph))))
}

var legendLabels = regexp.MustCompile(`\{\{(\w+)\}\}`)

// assertHasData checks that each query of a panel has a result, with all values of the
// variables and with some, and with the labels in its legend, or in the columns of a
// table.
func assertHasData(t *testing.T, d *dashboard, p panel, prometheus *prom) {
	t.Helper()
	columns := map[string]bool{"Time": true}
	for _, q := range p.Targets {
		columns["Value #"+q.RefID] = true
		found := prometheus.awaitData(d.with(t, q.Expr))
		for _, label := range legendLabels.FindAllStringSubmatch(q.LegendFormat, -1) {
			assertHasLabel(t, found, p.Title, label[1])
		}
		for _, series := range found {
			for label := range series {
				columns[label] = true
			}
		}
		prometheus.awaitData(d.with(t, q.Expr, "shop", exporterJob, "mutex", orders, tenants, permits))
	}
	for _, change := range p.Transformations {
		for _, named := range []map[string]bool{change.Options.ExcludeByName, keys(change.Options.IndexByName), keys(change.Options.RenameByName)} {
			for column := range named {
				assert.True(t, columns[column], "%s: there is no column %q", p.Title, column)
			}
		}
	}
}

func keys[V any](of map[string]V) map[string]bool {
	all := map[string]bool{}
	for key := range of {
		all[key] = true
	}
	return all
}

func assertHasLabel(t *testing.T, found []map[string]string, what, label string) {
	t.Helper()
	require.NotEmpty(t, found, what)
	for _, series := range found {
		assert.NotEmpty(t, series[label], "%s: %v has no label %q", what, series, label)
	}
}
