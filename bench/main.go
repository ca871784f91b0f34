package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/zkrecipes/zkrecipes/bench/contend"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("usage: bench peers|scale|faults [options]; -h lists them")
	}
	switch verb, rest := args[0], args[1:]; verb {
	case "peers":
		return peersCommand(ctx, rest)
	case "scale":
		return scaleCommand(ctx, rest)
	case "faults":
		return faultsCommand(ctx, rest)
	case "contend": // how bench starts itself
		return contendCommand(ctx, rest)
	default:
		return fmt.Errorf("no command %q: peers, scale or faults", verb)
	}
}

func peersCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench peers", flag.ContinueOnError)
	names := flags.String("systems", nameAll(systems, system.String), "which systems, in the order of the table; all are related to bare")
	works := flags.String("workloads", nameAll(workloads, workload.String), "which workloads")
	o := options{}
	flags.IntVar(&o.rounds, "rounds", 5, "how often each system does each workload")
	flags.DurationVar(&o.slice, "slice", time.Second, "for how long it does, where the workload has no end of its own")
	flags.DurationVar(&o.warmUp, "warm-up", 5*time.Second, "how long a new server or Java program is warmed up: Java is slow at first")
	flags.DurationVar(&o.limit, "limit", 2*time.Minute, "how long one slice may take")
	flags.StringVar(&o.dir, "data", "", "the folder for the servers' data, by default that of temporary files")
	beforeFlag(flags, &o)
	if err := flags.Parse(args); err != nil {
		return err
	}
	some, err := choose(before(o.before), *names, system.String)
	if err != nil {
		return err
	}
	todo, err := choose(workloads, *works, workload.String)
	if err != nil {
		return err
	}
	return peers(ctx, o, some, todo)
}

func beforeFlag(flags *flag.FlagSet, o *options) {
	flags.StringVar(&o.before, "before", "", "a build of this program from an earlier commit: ours of then is the system \"before\"")
}

func contendCommand(ctx context.Context, args []string) error {
	var c contend.Config
	flags := flag.NewFlagSet("bench contend", flag.ContinueOnError)
	flags.StringVar(&c.System, "system", "", "")
	flags.StringVar(&c.Server, "server", "", "")
	flags.DurationVar(&c.Session, "session", 0, "")
	flags.StringVar(&c.Slots, "slots", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return contend.Serve(ctx, c, os.Stdin, os.Stdout)
}

// choose returns the elements that a list names.
func choose[T any](all []T, list string, name func(T) string) (some []T, err error) {
next:
	for want := range strings.SplitSeq(list, ",") {
		for _, one := range all {
			if name(one) == want {
				some = append(some, one)
				continue next
			}
		}
		return nil, fmt.Errorf("there is no %q among %s", want, nameAll(all, name))
	}
	return some, nil
}

func nameAll[T any](all []T, name func(T) string) string {
	var names []string
	for _, one := range all {
		names = append(names, name(one))
	}
	return strings.Join(names, ",")
}
