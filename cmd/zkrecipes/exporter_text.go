package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A metric is a gauge, and what its HELP line says.
type metric struct{ name, help string }

// An exposition is what a scrape gets: values by the name of the metric and by labels,
// as they are written. So each series is there once.
type exposition map[string]map[string]float64

// add adds to the value of a series, with names and values of its labels in turn.
func (e exposition) add(name string, value float64, labels ...string) {
	if e[name] == nil {
		e[name] = map[string]float64{}
	}
	e[name][labelText(labels)] += value
}

// labelEscaper escapes what would end the value of a label.
var labelEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// labelText writes labels. What is not UTF-8 would make Prometheus refuse the scrape.
func labelText(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	var text strings.Builder
	for i := 0; i < len(labels); i += 2 {
		separator := ","
		if i == 0 {
			separator = "{"
		}
		fmt.Fprintf(&text, `%s%s="%s"`, separator, labels[i], labelEscaper.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")))
	}
	return text.String() + "}"
}

// String writes the text format of Prometheus, version 0.0.4, in an order that does not
// change.
func (e exposition) String() string {
	var text strings.Builder
	for _, m := range exporterMetrics {
		series := e[m.name]
		if len(series) == 0 {
			continue
		}
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s gauge\n", m.name, m.help, m.name)
		for _, labels := range slices.Sorted(maps.Keys(series)) {
			text.WriteString(m.name + labels + " " + strconv.FormatFloat(series[labels], 'f', -1, 64) + "\n")
		}
	}
	return text.String()
}
