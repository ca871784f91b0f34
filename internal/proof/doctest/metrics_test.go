package doctest

import (
	"regexp"
	"strings"
)

// metrics are the names of those that are documented: the tests of these pages compare
// them with what is scraped.
type metrics struct {
	prometheus map[string]string // the kind, by the name
	otel       string            // the page that names those of OpenTelemetry
}

const (
	ofPrograms  = "contrib/prometheus/README.md"
	ofAnyClient = "docs/exporter.md"
	ofOTel      = "contrib/otel/README.md"
)

func readMetrics(r *repository) *metrics {
	m := &metrics{prometheus: map[string]string{}}
	row := regexp.MustCompile("^\\| `(zkrecipes_[a-z_]+)` \\| (\\w*)")
	for _, page := range []string{ofPrograms, ofAnyClient} {
		for _, line := range r.pages[page].Lines {
			if found := row.FindStringSubmatch(line.Text); found != nil {
				m.prometheus[found[1]] = found[2]
			}
		}
	}
	for _, line := range r.pages[ofOTel].Lines {
		m.otel += line.Text + "\n"
	}
	return m
}

var (
	metricName  = regexp.MustCompile(`\bzkrecipes_[a-z_]*[a-z]\b`)
	ofHistogram = regexp.MustCompile(`_(?:bucket|sum|count)$`)
	otelName    = regexp.MustCompile(`^zkrecipes(?:\.[a-z_]+)+$`)
)

// checkMetrics checks that metrics exist, anywhere on a page: those of Prometheus with
// underscores, those of OpenTelemetry with points.
func checkMetrics(r *repository, p Page) (found []Problem, seen int) {
	for i, line := range p.Lines {
		for _, name := range metricName.FindAllString(line.Text, -1) {
			seen++
			if !r.metrics.has(name) {
				found = append(found, Problem{p.Path, i + 1, "there is no metric " + name, "name one of the tables in " + ofAnyClient + " and " + ofPrograms})
			}
		}
	}
	for _, s := range p.Spans() {
		if !otelName.MatchString(s.Text) || p.Path == ofOTel {
			continue
		}
		seen++
		if !strings.Contains(r.metrics.otel, "`"+s.Text+"`") {
			found = append(found, Problem{p.Path, s.Line, ofOTel + " does not have " + s.Text, "name one that it has"})
		}
	}
	return found, seen
}

func (m *metrics) has(name string) bool {
	if _, exists := m.prometheus[name]; exists {
		return true
	}
	return m.prometheus[ofHistogram.ReplaceAllString(name, "")] == "histogram"
}
