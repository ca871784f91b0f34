package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A dashboard is what is checked of grafana.json.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct{ List []variable }
	Panels        []panel
}

// A variable is one that the reader of the dashboard can choose.
type variable struct {
	Name, Label, Type, AllValue string
	Query                       json.RawMessage
	Datasource                  datasource
	IncludeAll, Multi           bool
}

type datasource struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               datasource
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []target
	FieldConfig              struct {
		Defaults  struct{ Unit string }
		Overrides []struct{ Matcher struct{ ID, Options string } }
	}
	Transformations []struct {
		ID      string
		Options struct {
			ExcludeByName map[string]bool
			IndexByName   map[string]int
			RenameByName  map[string]string
		}
	}
}

// A target is one query of a panel.
type target struct {
	RefID, Expr, LegendFormat string
	Datasource                datasource
}

func theDashboard(t *testing.T) *dashboard {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(folder, "grafana.json"))
	require.NoError(t, err)
	d := &dashboard{}
	require.NoError(t, json.Unmarshal(file, d))
	return d
}

// chosen is the variable of which the reader chooses the value.
var chosen = datasource{"prometheus", "${datasource}"}

func TestDashboardIsWellFormed(t *testing.T) {
	d := theDashboard(t)
	assert.Equal(t, "zkrecipes", d.UID, "with another, the dashboard is imported a second time beside the first")
	assert.Equal(t, 39, d.SchemaVersion, "that of Grafana 10.3 to 11")
	ids, occupied := map[int]string{}, map[[2]int]string{}
	for _, p := range d.Panels {
		require.Positive(t, p.ID, p.Title)
		require.NotEmpty(t, p.Title, "panel %d", p.ID)
		assert.Empty(t, ids[p.ID], "%q has the id %d as well", p.Title, p.ID)
		ids[p.ID] = p.Title
		occupy(t, p, occupied)
		if p.Type == "row" {
			continue
		}
		assert.NotEmpty(t, p.Description, p.Title)
		assert.NotEmpty(t, p.FieldConfig.Defaults.Unit, "%s: no unit", p.Title)
		assert.Equal(t, chosen, p.Datasource, p.Title)
		refs := map[string]bool{}
		require.NotEmpty(t, p.Targets, p.Title)
		for _, q := range p.Targets {
			assert.Equal(t, chosen, q.Datasource, "%s %s", p.Title, q.RefID)
			assert.NotEmpty(t, q.RefID, p.Title)
			assert.False(t, refs[q.RefID], "%s has two queries %s", p.Title, q.RefID)
			refs[q.RefID] = true
		}
	}
}

// occupy records which fields of the grid a panel takes. It is 24 fields wide.
func occupy(t *testing.T, p panel, occupied map[[2]int]string) {
	t.Helper()
	at := p.GridPos
	require.True(t, at.W > 0 && at.H > 0 && at.X >= 0 && at.Y >= 0 && at.X+at.W <= 24, "%s is at %+v", p.Title, at)
	for x := at.X; x < at.X+at.W; x++ {
		for y := at.Y; y < at.Y+at.H; y++ {
			require.Empty(t, occupied[[2]int{x, y}], "%q is in the same place", p.Title)
			occupied[[2]int{x, y}] = p.Title
		}
	}
}

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// selectors returns what the variables are chosen from, by the name of the variable: of
// which series, and which label of these.
func (d *dashboard) selectors(t *testing.T) map[string][2]string {
	t.Helper()
	found := map[string][2]string{}
	for _, v := range d.Templating.List {
		if v.Type == "datasource" {
			require.Equal(t, `"prometheus"`, string(v.Query))
			require.Equal(t, "${"+v.Name+"}", chosen.UID)
			continue
		}
		require.Equal(t, "query", v.Type, v.Name)
		require.Equal(t, chosen, v.Datasource, v.Name)
		require.True(t, v.IncludeAll && v.Multi && v.AllValue == ".*", "%s: all series, also those without the label", v.Name)
		var query struct{ Query string }
		require.NoError(t, json.Unmarshal(v.Query, &query))
		parts := labelValues.FindStringSubmatch(query.Query)
		require.NotNil(t, parts, query.Query)
		found[v.Name] = [2]string{parts[1], parts[2]}
	}
	return found
}

// escaped are a value's characters in a regular expression within a string of PromQL,
// as Grafana writes a value of which several can be chosen.
var escaped = regexp.MustCompile(`[\\^$*+?.()|[\]{}]`)

// with replaces the variables in a query as Grafana does: all values, or the ones that
// are given.
func (d *dashboard) with(t *testing.T, expr string, values ...string) string {
	t.Helper()
	value := ".*"
	if len(values) > 0 {
		var list []string
		for _, v := range values {
			list = append(list, escaped.ReplaceAllString(v, `\\$0`))
		}
		value = "(" + strings.Join(list, "|") + ")"
	}
	pairs := []string{"$__rate_interval", "1m0s"}
	for name := range d.selectors(t) {
		pairs = append(pairs, "$"+name, value)
	}
	expr = strings.NewReplacer(pairs...).Replace(expr)
	require.NotContains(t, expr, "$", "no such variable")
	return expr
}

// Prometheus takes each query, with all values of the variables and with some of them.
func TestQueriesOfTheDashboardAreValid(t *testing.T) {
	d := theDashboard(t)
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	add := func(name, expr string) {
		fmt.Fprintf(&rules, "      - record: %s\n        expr: %q\n", name, expr)
	}
	for name, from := range d.selectors(t) {
		add("variable_"+name, from[0])
	}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			name := fmt.Sprintf("panel_%d_%s", p.ID, q.RefID)
			add(name+"_all", d.with(t, q.Expr))
			add(name+"_some", d.with(t, q.Expr, "/locks/*", "a.b"))
		}
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	require.NoError(t, os.WriteFile(file, []byte(rules.String()), 0o600))
	out, err := promtool(t, "check", "rules", "--lint=none", file)
	require.NoError(t, err, "%s%s", out, &rules)
}
