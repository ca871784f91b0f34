// Command throwaway runs a command with a real ZooKeeper that exists only while the
// command runs.
//
//	throwaway [--nodes 3] [--ttl] [--reap 24h] -- CMD [ARGS...]
//
// The command finds the servers' addresses in ZKRECIPES_SERVERS. throwaway exits with
// the command's exit code, or with 69 if ZooKeeper could not be started.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

const (
	exitUsage       = 64
	exitUnavailable = 69
	exitNotFound    = 127
)

func main() { os.Exit(run()) }

func run() int {
	nodes := flag.Int("nodes", 1, "number of servers, 1 or 3")
	ttl := flag.Bool("ttl", false, "allow nodes with a time to live")
	reap := flag.Duration("reap", 0, "how often unused container nodes are looked for (default a minute)")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: throwaway [--nodes 3] [--ttl] [--reap 24h] -- CMD [ARGS...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		return exitUsage
	}
	// The command gets the terminal's signals itself; the servers must outlive it.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	servers, err := ensemble.Start(ctx, ensemble.Options{Nodes: *nodes, ExtendedTypes: *ttl, ReapInterval: *reap, NoSync: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, "throwaway:", err)
		return exitUnavailable
	}
	defer func() { _ = servers.Close() }()
	return runCommand(flag.Args(), servers.Servers(), signals)
}

func runCommand(args, servers []string, signals <-chan os.Signal) int {
	command := exec.Command(args[0], args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = append(os.Environ(), "ZKRECIPES_SERVERS="+strings.Join(servers, ","))
	if err := command.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "throwaway:", err)
		return exitNotFound
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = command.Process.Signal(s)
		case err := <-done:
			var exit *exec.ExitError
			if errors.As(err, &exit) && !exit.Exited() {
				return 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
			}
			return command.ProcessState.ExitCode()
		}
	}
}
