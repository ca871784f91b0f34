package monitoring

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// An alertRule is one of alerts.yml.
type alertRule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, name))
	require.NoError(t, err)
	defer file.Close()
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(into))
}

func alertRules(t *testing.T) (all []alertRule) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []alertRule
		}
	}
	readYAML(t, "alerts.yml", &file)
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

func TestRulesAreValid(t *testing.T) {
	out, err := promtool(t, "check", "rules", "--lint=all", "--lint-fatal", filepath.Join(folder, "alerts.yml"))
	require.NoError(t, err, out)
}

func TestRulesPassTheirUnitTests(t *testing.T) {
	out, err := promtool(t, "test", "rules", filepath.Join(folder, "alerts_test.yml"))
	require.NoError(t, err, out)
}

// Of each alert there is a case in which it fires and one in which it does not.
func TestEachAlertHasUnitTests(t *testing.T) {
	var file struct {
		RuleFiles          []string `yaml:"rule_files"`
		EvaluationInterval string   `yaml:"evaluation_interval"`
		Tests              []struct {
			Interval      string
			InputSeries   []struct{ Series, Values string } `yaml:"input_series"`
			AlertRuleTest []struct {
				EvalTime  string `yaml:"eval_time"`
				Alertname string
				ExpAlerts []struct {
					ExpLabels      map[string]string `yaml:"exp_labels"`
					ExpAnnotations map[string]string `yaml:"exp_annotations"`
				} `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	readYAML(t, "alerts_test.yml", &file)
	fires, quiet := map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		for _, c := range test.AlertRuleTest {
			if len(c.ExpAlerts) > 0 {
				fires[c.Alertname] = true
			} else {
				quiet[c.Alertname] = true
			}
		}
	}
	for _, r := range alertRules(t) {
		assert.True(t, fires[r.Alert], "%s: no case in which it fires", r.Alert)
		assert.True(t, quiet[r.Alert], "%s: no case in which it does not", r.Alert)
	}
}

// An alert has a link to what it means. The page has a heading for each alert, and for
// no other.
func TestAlertsAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^### (Zkrecipes\w+)$`).FindAllStringSubmatch(documentation(t), -1) {
		documented[heading[1]] = true
	}
	const page = "https://github.com/zkrecipes/zkrecipes/blob/main/docs/monitoring.md#"
	for _, r := range alertRules(t) {
		assert.True(t, documented[r.Alert], "%s is not in %s", r.Alert, docs)
		delete(documented, r.Alert)
		assert.Equal(t, page+strings.ToLower(r.Alert), r.Annotations["runbook_url"], r.Alert)
		for _, annotation := range []string{"summary", "description"} {
			assert.Contains(t, r.Annotations[annotation], "{{ ", "%s: its %s does not say where", r.Alert, annotation)
		}
		assert.Contains(t, []string{"warning", "critical"}, r.Labels["severity"], r.Alert)
	}
	assert.Empty(t, documented, "there are no such alerts")
}

func documentation(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(docs)
	require.NoError(t, err)
	return string(text)
}
