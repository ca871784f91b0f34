// Package example starts the programs of this folder, each of which shows one thing:
// with the ZooKeeper servers of the command line, or with an in-memory server of their
// own, so that they need nothing but Go.
package example

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// A Program is one of them.
type Program struct {
	// Name is that of its folder, for messages.
	Name string
	// Flags, if it is not nil, adds the program's own flags.
	Flags func(*flag.FlagSet)
	// Server has the options of the program's own server.
	Server []zktest.Option
	// Run does all. ctx ends at an interrupt and at a SIGTERM.
	Run func(ctx context.Context, servers []string, out io.Writer) error
}

// Main is the function main of the program.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := p.Start(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		os.Exit(1)
	}
}

// Start runs the program with that command line.
func (p Program) Start(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	servers := flags.String("servers", "", "`HOST:PORT,...` of ZooKeeper; by default a server in this process")
	if p.Flags != nil {
		p.Flags(flags)
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *servers != "" {
		return p.Run(ctx, strings.Split(*servers, ","), out)
	}
	server, err := zktest.Start(p.Server...)
	if err != nil {
		return err
	}
	defer server.Close()
	return p.Run(ctx, []string{server.Addr()}, out)
}
