package monitoring

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// pages have queries, and configurations of Prometheus.
var pages = []string{docs, "../../docs/exporter.md", "../../contrib/prometheus/README.md", "../../README.md"}

var (
	blocks      = regexp.MustCompile("(?ms)^ *```(promql|yaml)\n(.*?)\n *```$")
	inTheTables = regexp.MustCompile("(?m)^\\|.*?\\| `([^`|]*zkrecipes_[^`|]*)`")
)

// queriesIn returns the queries of a page: those in a table, and each line of a block,
// unless it continues the one before.
func queriesIn(t *testing.T, page string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, found := range inTheTables.FindAllStringSubmatch(string(text), -1) {
		all = append(all, found[1])
	}
	for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
		if block[1] != "promql" {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSpace(block[2]), "\n") {
			if strings.HasPrefix(line, " ") {
				all[len(all)-1] += "\n" + line
				continue
			}
			all = append(all, line)
		}
	}
	return all
}

func TestQueriesInDocumentsAreValid(t *testing.T) {
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: documents\n    rules:\n")
	n := 0
	for _, page := range pages {
		queries := queriesIn(t, page)
		if page != docs { // which leads to those of the exporter's page, and has the configuration
			assert.NotEmpty(t, queries, page)
		}
		for _, query := range queries {
			n++
			fmt.Fprintf(&rules, "      - record: query_%d\n        expr: %q\n", n, query)
		}
	}
	require.Greater(t, n, 20)
	file := filepath.Join(t.TempDir(), "documents.yml")
	require.NoError(t, os.WriteFile(file, []byte(rules.String()), 0o600))
	out, err := promtool(t, "check", "rules", "--lint=none", file)
	require.NoError(t, err, "%s%s", out, &rules)
}

// Prometheus takes the configurations, and what scrapes the exporter is the job that the
// alerts are about.
func TestConfigurationsInDocumentsAreValid(t *testing.T) {
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
			var config struct {
				ScrapeConfigs []struct {
					JobName       string                       `yaml:"job_name"`
					StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
				} `yaml:"scrape_configs"`
			}
			if block[1] != "yaml" || !strings.Contains(block[2], "scrape_configs:") {
				continue
			}
			require.NoError(t, yaml.Unmarshal([]byte(block[2]), &config), page)
			for _, job := range config.ScrapeConfigs {
				if strings.HasSuffix(job.StaticConfigs[0].Targets[0], ":10141") {
					found++
					assert.Equal(t, exporterJob, job.JobName, page)
				}
			}
			file := filepath.Join(t.TempDir(), "prometheus.yml")
			require.NoError(t, os.WriteFile(file, []byte(block[2]), 0o600))
			out, err := promtool(t, "check", "config", "--syntax-only", file)
			require.NoError(t, err, "%s: %s", page, out)
		}
	}
	require.Equal(t, 2, found)
}
