package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// peers measures some systems with some workloads, and prints the table.
func peers(ctx context.Context, o options, some []system, todo []workload) error {
	r, err := started(ctx, o, some)
	if err != nil {
		return err
	}
	defer r.close()
	var rows []row
	for _, w := range todo {
		of, err := r.compare(ctx, w, some)
		if err != nil {
			return err
		}
		rows = append(rows, of...)
	}
	return tabulate(os.Stdout, o, rows)
}

// started starts a run: the servers of some systems are up and warm.
func started(ctx context.Context, o options, some []system) (*run, error) {
	if err := installed(some); err != nil {
		return nil, err
	}
	r, err := newRun(o)
	if err != nil {
		return nil, err
	}
	if err = r.serve(ctx, some); err == nil {
		err = r.warm(ctx, some)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// warm lets each server, and each Java program, do some work that does not count.
func (r *run) warm(ctx context.Context, some []system) error {
	w, quick := workloads[1], *r
	quick.slice = r.warmUp
	done := map[string]bool{}
	for _, s := range some {
		if w.by(s) && (!done[s.server] || s.name == "curator") {
			done[s.server] = true
			if f := quick.measure(ctx, w, s, pathOf(w, s), route{server: s.server}); f.err != nil {
				return fmt.Errorf("warm %s up: %w", s, f.err)
			}
		}
	}
	return nil
}

// pathOf is short: what some libraries do for a new path grows with its depth.
func pathOf(w workload, s system) string { return "/" + w.name + "-" + s.name }

// A row is what a system did of a workload.
type row struct {
	w       workload
	s       system
	figures []figure // by round
	bare    []figure // of the same rounds, nil if it was not measured
	checked figure
}

// compare measures the rounds of one workload.
func (r *run) compare(ctx context.Context, w workload, some []system) (rows []row, err error) {
	for _, s := range some {
		if !w.by(s) {
			continue
		}
		rows = append(rows, row{w: w, s: s})
		r.prepare(ctx, w, s)
	}
	for round := range r.rounds {
		for i := range rows {
			one := &rows[(i+round)%len(rows)]
			f := r.measure(ctx, w, one.s, r.path(w, one.s, round), r.route(w, one.s))
			if err := cmp.Or(ctx.Err(), fatal(f)); err != nil {
				return nil, err
			}
			progress(w, one.s, round, f)
			one.figures = append(one.figures, f)
		}
	}
	bare := slices.IndexFunc(rows, func(one row) bool { return one.s.name == "bare" })
	for i := range rows {
		if bare >= 0 {
			rows[i].bare = rows[bare].figures
		}
		rows[i].checked = r.check(ctx, w, rows[i].s)
	}
	return rows, nil
}

// prepare does what comes before the rounds: paths are created, connections made.
func (r *run) prepare(ctx context.Context, w workload, s system) {
	once := w
	switch {
	case w.act == "kill" || w.fresh || w.act == "drain" && w.n > 1000:
		return
	case w.act == "take":
		once.fresh = true
	}
	quick := *r
	quick.slice = min(r.slice, 300*time.Millisecond)
	if s.name == "curator" && len(r.crews[berth{s.name, r.route(w, s), w.session()}]) < w.crew(s) {
		quick.slice = r.warmUp // its new processes are slow at first
	}
	_ = quick.measure(ctx, once, s, pathOf(w, s), r.route(w, s)) // an error comes again
}

// path is the path of a slice. What is to be fresh has a path of its own.
func (r *run) path(w workload, s system, round int) string {
	if w.fresh || w.act == "kill" {
		return fmt.Sprint(pathOf(w, s), "-", round)
	}
	return pathOf(w, s)
}

func (r *run) route(w workload, s system) route { return route{server: s.server, delay: w.delay} }

// check lets a system do a workload once more, when time does not matter: behind a
// proxy that counts the requests, if they are ZooKeeper's, and with holds that take a
// while, so that two at once are seen.
func (r *run) check(ctx context.Context, w workload, s system) figure {
	if w.act == "kill" || w.n > 1000 && w.act == "drain" {
		return figure{}
	}
	quick, via := *r, route{server: s.server, count: s.server == "zookeeper"}
	quick.slice, quick.dwell = min(r.slice, 300*time.Millisecond), 200*time.Microsecond
	if w.act == "cycles" && via.count { // without the requests of a new session
		_ = quick.measure(ctx, w, s, pathOf(w, s), via)
	}
	return quick.measure(ctx, w, s, r.path(w, s, r.rounds), via)
}

// fatal returns the error after which a run cannot go on.
func fatal(f figure) error {
	if errors.Is(f.err, errServerEnded) {
		return f.err
	}
	return nil
}

func progress(w workload, s system, round int, f figure) {
	if f.err != nil {
		fmt.Fprintf(os.Stderr, "%s %s, round %d: %v\n", w, s, round+1, f.err)
		return
	}
	fmt.Fprintf(os.Stderr, "%s %s, round %d: %.0f/s\n", w, s, round+1, f.rate())
}
