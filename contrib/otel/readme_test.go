package zkotel_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/doctest"
	"github.com/zkrecipes/zkrecipes/labels"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	zkotel "github.com/zkrecipes/zkrecipes/contrib/otel"
)

// table returns the rows of the table in README.md whose first heading is this, without
// spaces and backquotes.
func table(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	_, text, found := strings.Cut(readme(t), "\n| "+heading+" |")
	require.True(t, found, heading)
	text, _, _ = strings.Cut(text, "\n\n")
	for _, line := range strings.Split(text, "\n")[2:] {
		var row []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			row = append(row, strings.ReplaceAll(strings.TrimSpace(cell), "`", ""))
		}
		rows = append(rows, row)
	}
	return rows
}

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return string(text)
}

// everything has an observer see all that there is: each attribute is of some span.
func everything(t *testing.T, b *backend) {
	t.Helper()
	o := b.Observer()
	acquire(o, framework.AcquireEnd{AcquireInfo: framework.AcquireInfo{Path: path, Lock: path + "/0"}, HandOver: time.Second})
	acquire(o, framework.AcquireEnd{AcquireInfo: framework.AcquireInfo{Path: path}, Reentered: true, Err: errors.New("failed")})
	hold(o, framework.HoldEnd{HoldInfo: framework.HoldInfo{Path: path, Lock: path + "/0"}, Err: &lease.LossError{}})
	ctx, caller := b.tracer.Start(t.Context(), "caller")
	o.RequestEnded(ctx, framework.Request{Op: "get", Path: path, Session: 1, Attempt: 2, Err: errors.New("failed")})
	caller.End()
	o.CleanupStarted(path)
	o.CleanupEnded(path, errors.New("failed"))
}

func TestReadmeMetrics(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		held := w.Acquire(newMutex(t, b.client(w, "a")))
		everything(t, b)
		var written, made []string
		for _, row := range table(t, "name") {
			written = append(written, strings.Join(row, " | "))
		}
		for _, m := range b.collect(t) {
			names := map[string]bool{}
			for _, p := range points(t, m) {
				for _, a := range p.set.ToSlice() {
					names[strings.TrimPrefix(string(a.Key), "zkrecipes.")] = true
				}
			}
			made = append(made, strings.Join([]string{m.Name, kindOf(m), m.Unit, inOrder(names), m.Description}, " | "))
		}
		require.ElementsMatch(t, made, written)
		require.NoError(t, held.Release())
	})
}

func kindOf(m metricdata.Metrics) string {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		if data.IsMonotonic {
			return "counter"
		}
		return "up-down counter"
	case metricdata.Gauge[float64]:
		return "gauge"
	}
	return "histogram"
}

// inOrder returns the names of attributes in the order of README.md.
func inOrder(names map[string]bool) string {
	var all []string
	for _, name := range []string{"path_template", "recipe", "operation", "outcome", "reason", "state"} {
		if names[name] {
			all = append(all, name)
			delete(names, name)
		}
	}
	return strings.Join(append(all, slices.Sorted(maps.Keys(names))...), ", ")
}

func TestReadmeSpans(t *testing.T) {
	b := newBackend(t, zkotel.Config{Requests: true})
	everything(t, b)
	owners, types := map[string]map[string]bool{}, map[string]string{}
	add := func(owner string, all []attribute.KeyValue) {
		for _, a := range all {
			name := string(a.Key)
			if owners[name] == nil {
				owners[name] = map[string]bool{}
			}
			owners[name][owner], types[name] = true, typeOf(a.Value)
		}
	}
	spans := map[string]string{}
	for _, s := range b.spans.Ended() {
		owner, _, _ := strings.Cut(s.Name(), " ")
		if owner == "caller" {
			continue
		}
		spans[owner] = s.SpanKind().String()
		add(map[string]string{"acquire": "acquire", "hold": "hold", "zookeeper": "request"}[owner], s.Attributes())
		for _, e := range s.Events() {
			require.Contains(t, readme(t), "`"+e.Name+"`")
			add(strings.TrimPrefix(e.Name, "zkrecipes."), e.Attributes)
		}
	}
	var written, made []string
	for _, row := range table(t, "attribute") {
		written = append(written, strings.Join(row[:3], " | "))
	}
	for name := range owners {
		made = append(made, fmt.Sprintf("%s | %s | %s", name, strings.Join(slices.SortedFunc(maps.Keys(owners[name]), byPlace), ", "), types[name]))
	}
	require.ElementsMatch(t, made, written)
	inReadme := map[string]string{}
	for _, row := range table(t, "span") {
		owner, _, _ := strings.Cut(row[0], " ")
		inReadme[owner] = row[1]
	}
	require.Equal(t, spans, inReadme)
}

// byPlace orders spans and events as README.md does.
func byPlace(a, b string) int {
	places := []string{"acquire", "hold", "request", "lost"}
	return slices.Index(places, a) - slices.Index(places, b)
}

func typeOf(v attribute.Value) string {
	return map[attribute.Type]string{attribute.STRING: "string", attribute.INT64: "int", attribute.FLOAT64: "double", attribute.BOOL: "bool"}[v.Type()]
}

// The lists of values are those of the code.
func TestReadmeValues(t *testing.T) {
	text := strings.Join(strings.Fields(readme(t)), " ")
	_, after, _ := strings.Cut(text, "The reasons are ")
	reasons, _, _ := strings.Cut(after, ";")
	require.ElementsMatch(t, labels.Losses(), strings.Split(strings.ReplaceAll(reasons, " and ", ", "), ", "))
	outcomes := []string{labels.Granted, labels.Reentered, labels.Timeout, labels.Canceled, labels.Closed}
	require.Contains(t, text, "`"+strings.Join(outcomes, "`, `")+"` or `"+labels.Failed+"`")
	require.Contains(t, text, fmt.Sprintf("of a request `%v`, `%v` or `%v`", framework.Done, framework.Failed, framework.Unknown))
	states := []string{}
	for s := framework.Connecting; s < framework.Closed; s++ {
		states = append(states, s.String())
	}
	require.Contains(t, text, "The states are "+strings.Join(states, ", ")+" and, of changes only, "+framework.Closed.String()+".")
}

// The Go blocks of README.md compile.
func TestReadmeCompiles(t *testing.T) {
	found, blocks, err := doctest.GoBlocks(t.Context(), ".", []doctest.Page{doctest.NewPage("README.md", readme(t))})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Positive(t, blocks)
}
