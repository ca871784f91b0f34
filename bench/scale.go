package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/zkrecipes/zkrecipes/bench/contend"
	"github.com/zkrecipes/zkrecipes/bench/servers"
)

// A size is how large a crowd is.
type size struct {
	processes           []int // in which it is, one after the other
	waiters, held, busy int
}

func scaleCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench scale", flag.ContinueOnError)
	names := flags.String("systems", "bare,ours", "which systems, of "+nameAll(systems, system.String))
	var o options
	var much size
	processes := flags.String("processes", "8,3", "in how many processes they wait for one path")
	flags.IntVar(&much.waiters, "waiters", 98_304, "how many waiters there are in all, 0 for none")
	flags.IntVar(&much.held, "held", 100_000, "how many locks one process then takes and holds, 0 for none")
	flags.IntVar(&much.busy, "busy", 0, "how many loops keep the processors busy meanwhile")
	flags.IntVar(&o.rounds, "rounds", 1, "how often")
	flags.DurationVar(&o.warmUp, "warm-up", 5*time.Second, "how long a new server or Java program is warmed up")
	flags.DurationVar(&o.limit, "limit", 5*time.Minute, "how long it may take to queue and to drain")
	flags.StringVar(&o.dir, "data", "", "the folder for the servers' data, by default that of temporary files")
	beforeFlag(flags, &o)
	if err := flags.Parse(args); err != nil {
		return err
	}
	some, err := choose(before(o.before), *names, system.String)
	if err != nil {
		return err
	}
	if much.processes, err = positive(*processes); err != nil {
		return err
	}
	o.memory = true
	return scale(ctx, o, some, much, os.Stdout)
}

// positive reads numbers of processes.
func positive(list string) (all []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-processes %s: %q is no number of processes", list, text)
		}
		all = append(all, n)
	}
	return all, nil
}

// scale measures crowds, and prints a table of each kind. It fails if a crowd was not
// granted in order, or left something.
func scale(ctx context.Context, o options, some []system, much size, out io.Writer) error {
	r, err := started(ctx, o, some)
	if err != nil {
		return err
	}
	defer r.close()
	stop, err := keepBusy(much.busy)
	if err != nil {
		return err
	}
	defer stop()
	var wrong error
	if much.waiters > 0 {
		for _, n := range much.processes {
			switch err := r.crowds(ctx, some, much, n, out); {
			case errors.Is(err, errWrong):
				wrong = err
			case err != nil:
				return err
			}
		}
	}
	if much.held > 0 {
		if err := r.holds(ctx, some, much, out); err != nil {
			return err
		}
	}
	return wrong
}

// errWrong is the end of a run that has measured what must not be.
var errWrong = errors.New("a crowd failed, was not granted one by one and in order, or has left nodes")

// crowds prints how long it takes until all wait, how fast they are served, and what a
// process needs meanwhile.
func (r *run) crowds(ctx context.Context, some []system, much size, processes int, out io.Writer) (wrong error) {
	w := workload{name: fmt.Sprint("crowd-", processes), act: "drain", kind: "mutex", n: much.waiters / processes * processes, processes: processes}
	fmt.Fprintf(out, "%d waiters in %d processes, %d busy loops beside them\n\n", w.n, processes, much.busy)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "round\tsystem\tqueued in\tdrained per second\tof bare\theap, most of a process\tRSS\tat most\tgoroutines\tviolations\tleft")
	for round := range r.rounds {
		var bare float64
		for _, s := range some {
			if !w.by(s) {
				continue
			}
			f, err := r.once(ctx, w, s, round)
			if err != nil {
				return err
			}
			if f.err != nil || f.violations+f.left > 0 {
				wrong = errWrong
			}
			if f.err != nil {
				fmt.Fprintf(table, "%d\t%s\t%.1f s\tfailed: %v\n", round+1, s.name, f.queued.Seconds(), f.err)
				continue
			}
			if s.name == "bare" {
				bare = f.rate()
			}
			megabytes := func(key string) float64 { return float64(f.memory.Int(key)) / 1e6 }
			fmt.Fprintf(table, "%d\t%s\t%.1f s\t%.0f\t%s\t%.1f MB\t%.0f MB\t%.0f MB\t%d\t%d\t%d\n", round+1, s.name, f.queued.Seconds(), f.rate(),
				ratio(f.rate(), bare), megabytes("heap"), megabytes("rss"), megabytes("peak"), f.memory.Int("goroutines"), f.violations, f.left)
		}
	}
	fmt.Fprintln(table)
	return cmp.Or(table.Flush(), wrong)
}

// once lets a system do a workload with processes of its own. An error ends the run.
func (r *run) once(ctx context.Context, w workload, s system, round int) (figure, error) {
	f := r.measure(ctx, w, s, fmt.Sprint(pathOf(w, s), "-", round), r.route(w, s))
	r.dismiss(berth{s.name, r.route(w, s), w.session()})
	return f, cmp.Or(ctx.Err(), fatal(f))
}

// ratio is a rate related to another.
func ratio(rate, bare float64) string {
	if bare == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g", rate/bare)
}

// holds prints what a held lock needs of a process.
func (r *run) holds(ctx context.Context, some []system, much size, out io.Writer) error {
	w := workload{name: "held", act: "take", kind: "mutex", n: much.held, fresh: true}
	fmt.Fprintf(out, "%d locks held by one process\n\n", much.held)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "round\tsystem\ttaken per second\theap of a lock\tRSS\tgoroutines\treleased per second\tof bare")
	for round := range r.rounds {
		var bare float64
		for _, s := range some {
			if !w.by(s) {
				continue
			}
			f, err := r.once(ctx, w, s, round)
			if err != nil {
				return err
			}
			if f.err != nil {
				fmt.Fprintf(table, "%d\t%s\tfailed: %v\n", round+1, s.name, f.err)
				continue
			}
			if s.name == "bare" {
				bare = f.released
			}
			each := func(key string) float64 { return float64(f.memory.Int(key)-f.before.Int(key)) / float64(much.held) }
			fmt.Fprintf(table, "%d\t%s\t%.0f\t%.0f B\t%.0f B\t%.2f\t%.0f\t%s\n", round+1, s.name, f.rate(), each("heap"), each("rss"), each("goroutines"),
				f.released, ratio(f.released, bare))
		}
	}
	return table.Flush()
}

// keepBusy starts loops that do nothing but take the processors.
func keepBusy(n int) (stop func(), err error) {
	var loops []*exec.Cmd
	var ended []<-chan struct{}
	stop = func() {
		for i, loop := range loops {
			_ = loop.Process.Kill()
			<-ended[i]
		}
	}
	for range n {
		loop := exec.Command("sh", "-c", "while :; do :; done")
		done, err := servers.Launch(loop)
		if err != nil {
			stop()
			return nil, err
		}
		loops, ended = append(loops, loop), append(ended, done)
	}
	return stop, nil
}

// weigh returns the most of what any process takes. It is left out where only time
// counts.
func (r *run) weigh(ctx context.Context, crew []*child) (contend.Values, error) {
	if !r.memory {
		return nil, nil
	}
	answers, err := all(ctx, crew, "memory", nil)
	most := contend.Values{}
	for _, a := range answers {
		for key := range a {
			if a.Int(key) >= most.Int(key) {
				most[key] = a[key]
			}
		}
	}
	return most, err
}
