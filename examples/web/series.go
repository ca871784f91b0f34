package main

import (
	"fmt"
	"strconv"
	"strings"
)

// series are the lines of /metrics, without comments.
type series []string

func parse(text string) (all series) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// of returns the series of a metric whose labels include that one, "" for all.
func (s series) of(metric, label string) (some series) {
	for _, line := range s {
		if (strings.HasPrefix(line, metric+"{") || strings.HasPrefix(line, metric+" ")) && strings.Contains(line, label) {
			some = append(some, line)
		}
	}
	return some
}

// sum returns the sum of series.
func (s series) sum() (sum float64) {
	for _, line := range s {
		value, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64)
		if err == nil {
			sum += value
		}
	}
	return sum
}

// agree compares the metrics with what clients saw, and with the database. All requests
// have ended.
func (s series) agree(t *traffic, lines int) error {
	acquires := func(outcome string) float64 {
		return s.of("zkrecipes_acquire_wait_seconds_count", `outcome="`+outcome+`"`).sum()
	}
	granted := acquires("granted")
	for _, c := range []struct {
		what        string
		metric, saw float64
	}{
		{"acquires, and requests", s.of("zkrecipes_acquire_wait_seconds_count", "").sum(), float64(t.changed + t.busy + t.gone)},
		{"acquires that were granted, and answers 200", granted, float64(t.changed)},
		// A client may hang up at the moment of the timeout.
		{"acquires that ended before, and answers 503 and clients that hung up", acquires("timeout") + acquires("canceled"), float64(t.busy + t.gone)},
		{"holds, and lines of orders", s.of("zkrecipes_hold_seconds_count", "").sum(), float64(lines)},
		{"losses, of which there should be none", s.of("zkrecipes_losses_total", "").sum(), 0},
		{"failed releases, of which there should be none", s.of("zkrecipes_release_failures_total", "").sum(), 0},
		{"holds and waiters that are left, of which there should be none", s.of("zkrecipes_holds", "").sum() + s.of("zkrecipes_acquires_waiting", "").sum(), 0},
	} {
		if c.metric != c.saw {
			return fmt.Errorf("the metrics say %v and the clients %v: %s", c.metric, c.saw, c.what)
		}
	}
	return nil
}
