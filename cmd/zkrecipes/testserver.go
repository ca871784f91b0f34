package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/zkrecipes/zkrecipes/zktest"
)

const helpTestserver = `usage: zkrecipes testserver [--port N] [--host ADDR]

Runs an in-memory ZooKeeper server until it is interrupted (Ctrl-C), for trying things out without
a ZooKeeper. It speaks the real protocol, to any client, and forgets everything when it ends. It has
no real authentication and is not for production.

  --port N     the port to listen on (2181; 0 for any that is free)
  --host ADDR  the address to listen on (127.0.0.1)

The first line of output is the address, in the form that --servers takes:

  $ zkrecipes testserver --port 0 &
  127.0.0.1:40123
  $ zkrecipes run --servers 127.0.0.1:40123 /locks/demo -- echo mine

Each flag can also be a variable, such as ZKRECIPES_PORT, or a line of a file (--config FILE), such as
ZKRECIPES_PORT=2182.

Exit codes: 0 interrupted; 64 usage; 69 cannot listen there.
`

// testserverFlags is what the command line of "testserver" says.
type testserverFlags struct {
	port option[int]
	host string
}

func (f *testserverFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("testserver", flag.ContinueOnError)
	f.port.value = 2181
	registerConfig(fs)
	fs.Func("port", "", f.port.set(parseNumber))
	fs.StringVar(&f.host, "host", "127.0.0.1", "")
	return fs
}

// testserver runs an in-memory server until a signal ends it.
func (p *program) testserver(args []string) error {
	f := &testserverFlags{}
	fs := f.flagSet()
	if err := p.parse(fs, args); err != nil {
		return err
	}
	switch {
	case fs.NArg() > 0:
		return usageErrorf("testserver: takes flags only: what is %q?", fs.Arg(0))
	case f.port.value < 0 || f.port.value > 65535:
		return usageErrorf("testserver: --port %d is not between 0 and 65535", f.port.value)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return p.serve(ctx, net.JoinHostPort(f.host, strconv.Itoa(f.port.value)))
}

// serve runs the server until ctx ends.
func (p *program) serve(ctx context.Context, addr string) error {
	server, err := zktest.Start(zktest.WithAddr(addr))
	if err != nil {
		return fmt.Errorf("testserver: %w", err)
	}
	defer server.Close()
	_ = printLine(p.stdout, server.Addr()) // a caller that chose the port need not read it
	<-ctx.Done()
	return nil
}
