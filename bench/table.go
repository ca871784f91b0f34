package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// tabulate writes the table.
func tabulate(out io.Writer, o options, rows []row) error {
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(out, "%s, %d processors, load %.4s; %d rounds, slices of %v; medians, and the least and the most of all rounds\n\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), load, o.rounds, o.slice)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "workload\tsystem\tper second\t(least..most)\tof bare\t(least..most)\tclient us\tserver us\tviolations\trequests of a cycle")
	for _, r := range rows {
		fmt.Fprintln(table, strings.Join(r.cells(), "\t"))
	}
	return table.Flush()
}

// cells are one line of the table.
func (r row) cells() []string {
	cells := []string{r.w.name, r.s.name}
	var rates, ratios []float64
	sum := figure{violations: r.checked.violations}
	for i, f := range r.figures {
		sum.violations += f.violations
		if f.err != nil {
			sum.err = f.err
			continue
		}
		rates = append(rates, f.rate())
		if r.bare != nil && r.bare[i].err == nil && r.bare[i].ops > 0 {
			ratios = append(ratios, f.rate()/r.bare[i].rate())
		}
		sum.client, sum.server, sum.all = sum.client+f.client, sum.server+f.server, sum.all+f.all
	}
	switch {
	case sum.err != nil && len(rates) == 0:
		return append(cells, "-", "", "-", "", "-", "-", "-", "failed: "+sum.err.Error())
	case r.w.act == "kill":
		return append(cells, seconds(rates)...)
	}
	cells = append(append(cells, spread("%.0f", rates)...), spread("%.3g", ratios)...)
	cells = append(cells, perOp(sum.client, sum.all), perOp(sum.server, sum.all), fmt.Sprint(sum.violations), r.checked.perCycle())
	if failed := len(r.figures) - len(rates); failed > 0 {
		cells = append(cells, fmt.Sprintf("%d rounds failed: %v", failed, sum.err))
	}
	return cells
}

// spread is the median of numbers, and their least and greatest.
func spread(format string, all []float64) []string {
	if len(all) == 0 {
		return []string{"-", ""}
	}
	slices.Sort(all)
	middle := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	return []string{fmt.Sprintf(format, middle), fmt.Sprintf("("+format+".."+format+")", all[0], all[len(all)-1])}
}

// seconds is the spread of the times of what has a rate.
func seconds(rates []float64) []string {
	times := make([]float64, len(rates))
	for i, r := range rates {
		times[i] = 1 / r
	}
	return append(spread("%.2f s", times), "-", "", "-", "-", "-", "-")
}

func perOp(d time.Duration, ops int) string {
	if ops == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", float64(d.Microseconds())/float64(ops))
}

// perCycle is how many requests a cycle made, in all and by kind. What is rare is left
// out of the list.
func (f figure) perCycle() string {
	if f.all == 0 || f.requests == nil || f.err != nil {
		return "-"
	}
	var sum float64
	var kinds []string
	for _, kind := range slices.SortedFunc(maps.Keys(f.requests), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.requests[b], f.requests[a]), cmp.Compare(a, b))
	}) {
		n := float64(f.requests[kind]) / float64(f.all)
		if sum += n; n >= 0.02 {
			kinds = append(kinds, fmt.Sprintf("%s %.2f", kind, n))
		}
	}
	return fmt.Sprintf("%.2f: %s", sum, strings.Join(kinds, ", "))
}
