package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/zkrecipes/zkrecipes/bench/contend"
)

// A fault is what happens to the process of a holder while another process waits.
type fault string

const (
	killed fault = "killed" // its process ends
	cutOff fault = "cutoff" // nothing passes any more between it and the servers
	frozen fault = "frozen" // its process is stopped, and goes on when there is a next holder

	// The primary Redis ends before its replica, which is cut off, has the lock. The
	// replica becomes the primary.
	failover fault = "failover"
)

func (f fault) String() string { return string(f) }

var faults = []fault{killed, cutOff, frozen, failover}

// hits tells whether it can happen to a system. What ZooKeeper and etcd have answered, a
// quorum has.
func (f fault) hits(s system) bool { return f != failover || s.server == "redis" }

func faultsCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench faults", flag.ContinueOnError)
	able := capable(systems)
	names := flags.String("systems", nameAll(able, system.String), "which systems, in the order of the table")
	which := flags.String("faults", nameAll(faults, fault.String), "which faults")
	o := options{}
	flags.IntVar(&o.rounds, "rounds", 5, "how often each happens to each system")
	session := flags.Duration("session", 4*time.Second, "the timeout of sessions, or the expiry of locks")
	flags.StringVar(&o.dir, "data", "", "the folder for the servers' data, by default that of temporary files")
	if err := flags.Parse(args); err != nil {
		return err
	}
	some, err := choose(able, *names, system.String)
	if err != nil {
		return err
	}
	todo, err := choose(faults, *which, fault.String)
	if err != nil {
		return err
	}
	if err := installed(some); err != nil {
		return err
	}
	r, err := newRun(o)
	if err != nil {
		return err
	}
	defer r.close()
	if err := r.serve(ctx, some); err != nil {
		return err
	}
	return r.faults(ctx, todo, some, *session, os.Stdout)
}

// capable are the systems whose holders can be asked.
func capable(all []system) (some []system) {
	for _, s := range all {
		if (workload{kind: kept}).by(s) {
			some = append(some, s)
		}
	}
	return some
}

// A trial is a fault that has happened to one holder. Moments are those of contend.Now;
// 0 is never.
type trial struct {
	fault int64 // the moment of the fault
	next  int64 // when the next holder had the lock
	back  int64 // when the network was back, or the process went on
	last  int64 // the last write of the old holder
	knew  int64 // when its library told it that the lock was lost
	late  int   // writes of the old holder while there was a next one
	err   error
}

// faults lets each fault happen to all systems at once: most of the time they wait. It
// prints a table for each.
func (r *run) faults(ctx context.Context, todo []fault, some []system, session time.Duration, out io.Writer) error {
	for _, f := range todo {
		hit := slices.DeleteFunc(slices.Clone(some), func(s system) bool { return !f.hits(s) })
		trials := map[string][]trial{}
		for round := range r.rounds {
			fmt.Fprintf(os.Stderr, "%s, round %d\n", f, round+1)
			of, err := r.faultRound(ctx, f, hit, session, round)
			if err != nil {
				return err
			}
			for i, s := range hit {
				trials[s.name] = append(trials[s.name], of[i])
			}
		}
		if err := tabulateFault(out, f, hit, trials, session, r.rounds); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// faultRound lets a fault happen to each system once.
func (r *run) faultRound(ctx context.Context, f fault, some []system, session time.Duration, round int) ([]trial, error) {
	stages := make([]*stage, len(some))
	defer func() {
		for _, at := range stages {
			at.close()
		}
	}()
	for i, s := range some {
		stages[i] = &stage{session: session}
		if err := r.set(ctx, stages[i], f, s); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	var group sync.WaitGroup
	trials := make([]trial, len(some))
	for i, s := range some {
		group.Go(func() {
			path := fmt.Sprintf("/%s-%s-%d", f, s, round)
			trials[i].err = stages[i].suffer(ctx, f, path, &trials[i])
			if trials[i].err != nil {
				fmt.Fprintf(os.Stderr, "%s %s: %v\n", f, s, trials[i].err)
			}
		})
	}
	group.Wait()
	return trials, ctx.Err()
}

// suffer lets a fault happen to the holder. When that last told the servers that it
// lives matters, so that it happens at any moment between two such times.
func (at *stage) suffer(ctx context.Context, f fault, path string, t *trial) error {
	order := contend.Values{"path": path}
	if _, err := at.holder.order(ctx, "work", order); err != nil {
		return err
	}
	granted := at.await(ctx, order)
	if err := pass(ctx, at.session/2+rand.N(at.session/3)); err != nil {
		return err
	}
	t.fault = contend.Now()
	switch f {
	case killed:
		at.holder.kill()
	case cutOff:
		at.network.Stall()
	case frozen:
		if err := at.holder.signal(syscall.SIGSTOP); err != nil {
			return err
		}
	case failover:
		if err := at.switchOver(); err != nil {
			return err
		}
	}
	select {
	case a := <-granted:
		if a.err != nil {
			return a.err
		}
		t.next = a.at
	case <-time.After(3 * at.session): // whether it comes at all is what is asked
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if f == killed {
		return nil
	}
	// The next holder works for a while before the old one can learn anything.
	if err := pass(ctx, at.session/2); err != nil {
		return err
	}
	t.back = contend.Now()
	switch f {
	case cutOff:
		at.network.Resume()
	case frozen:
		if err := at.holder.signal(syscall.SIGCONT); err != nil {
			return err
		}
	}
	a, err := at.holder.order(ctx, "stopped", contend.Values{
		"limit": fmt.Sprint(at.session.Milliseconds()), "since": fmt.Sprint(t.next),
	})
	if err != nil {
		return err
	}
	t.last, t.knew = int64(a.Int("last")), int64(a.Int("knew"))
	if t.next != 0 {
		t.late = a.Int("late")
	}
	return nil
}

// A grant is the answer of a process that has waited for the lock.
type grant struct {
	at  int64
	err error
}

func (at *stage) await(ctx context.Context, order contend.Values) <-chan grant {
	granted := make(chan grant, 1)
	go func() {
		a, err := at.next.order(ctx, "work", order)
		granted <- grant{int64(a.Int("at")), err}
	}()
	return granted
}

// pass lets time pass.
func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// between is the seconds from one moment to another.
func between(from, to int64) float64 { return time.Duration(to - from).Seconds() }
