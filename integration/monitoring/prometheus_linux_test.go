package monitoring

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/internal/ports"
)

// A prom is a process of Prometheus.
type prom struct {
	t   *testing.T
	url string
}

// startPrometheus starts one with rules that scrapes a target for each job, and waits
// until it serves.
func startPrometheus(t *testing.T, rules string, jobs map[string]string) *prom {
	t.Helper()
	dir := t.TempDir()
	var config strings.Builder
	config.WriteString("global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 500ms}\nrule_files: [rules.yml]\nscrape_configs:\n")
	for _, job := range slices.Sorted(maps.Keys(jobs)) {
		fmt.Fprintf(&config, "  - {job_name: %s, static_configs: [{targets: [%q]}]}\n", job, jobs[job])
	}
	for name, content := range map[string]string{"prometheus.yml": config.String(), "rules.yml": rules} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	block, err := ports.Reserve()
	require.NoError(t, err)
	t.Cleanup(block.Release)
	start(t, tool(t, "prometheus"), "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+block.Address(0), "--log.level=warn")
	p := &prom{t, "http://" + block.Address(0)}
	await(t, "Prometheus", func() string {
		if _, err := get(t, p.url+"/-/ready"); err != nil {
			return err.Error()
		}
		return ""
	})
	return p
}

// ask asks its API, whose answer has a field "data".
func (p *prom) ask(path string, parameters url.Values, data any) {
	p.t.Helper()
	body, err := get(p.t, p.url+"/api/v1/"+path+"?"+parameters.Encode())
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(body, &struct{ Data any }{data}), "%s", body)
}

// series returns the labels of all series of zkrecipes.
func (p *prom) series() (all []map[string]string) {
	p.t.Helper()
	p.ask("series", url.Values{"match[]": {`{__name__=~"zkrecipes_.*"}`}}, &all)
	return all
}

// query returns the labels of what an expression is now.
func (p *prom) query(expr string) (found []map[string]string) {
	p.t.Helper()
	var data struct {
		Result []struct{ Metric map[string]string }
	}
	p.ask("query", url.Values{"query": {expr}}, &data)
	for _, r := range data.Result {
		found = append(found, r.Metric)
	}
	return found
}

// awaitData waits until an expression has a result, and returns its labels: a rate needs
// two scrapes.
func (p *prom) awaitData(expr string) (found []map[string]string) {
	p.t.Helper()
	await(p.t, expr, func() string {
		if found = p.query(expr); len(found) == 0 {
			return "no result"
		}
		return ""
	})
	return found
}

// An alert is one that is pending or firing.
type alert struct {
	Labels, Annotations map[string]string
	State               string
}

// firing returns the alerts of a name that fire.
func (p *prom) firing(name string) (firing []alert) {
	p.t.Helper()
	var data struct{ Alerts []alert }
	p.ask("alerts", nil, &data)
	for _, a := range data.Alerts {
		if a.Labels["alertname"] == name && a.State == "firing" {
			firing = append(firing, a)
		}
	}
	return firing
}

// awaitFiring waits until an alert fires, and returns it.
func (p *prom) awaitFiring(name string) (firing []alert) {
	p.t.Helper()
	await(p.t, "alert "+name, func() string {
		if firing = p.firing(name); len(firing) == 0 {
			return "it does not fire"
		}
		return ""
	})
	return firing // asked again, it may have ended: a scrape that takes too long ends it
}

// awaitQuiet waits until an expression has a result and an alert, after that, neither
// fires nor is about to.
func (p *prom) awaitQuiet(alert, once string) {
	p.t.Helper()
	p.awaitData(once)
	now := time.Now()
	await(p.t, "an evaluation of "+alert, func() string {
		if r := p.rule(alert); !r.LastEvaluation.After(now) || r.State != "inactive" || r.Health != "ok" {
			return fmt.Sprintf("%+v", r)
		}
		return ""
	})
}

// A rule is what Prometheus says of one.
type rule struct {
	Name, State, Health, LastError string
	LastEvaluation                 time.Time
}

func (p *prom) rule(name string) rule {
	p.t.Helper()
	var data struct{ Groups []struct{ Rules []rule } }
	p.ask("rules", nil, &data)
	for _, group := range data.Groups {
		for _, r := range group.Rules {
			if r.Name == name {
				return r
			}
		}
	}
	require.Fail(p.t, "no rule "+name)
	return rule{}
}
