// Command leader is a service of several instances: all serve HTTP, and one at a time,
// the leader, does work that must not be done twice at once. It shows
//
//   - what /healthz and /readyz depend on, and that no restart is asked for because an
//     instance does not lead, or because ZooKeeper is away;
//   - how an instance ends at a SIGTERM: the next one leads at once, no session timeout
//     passes, and the requests that are under way are finished;
//   - that the next one leads after the session timeout if the leader is killed.
//
// service.go and handler.go are the service. The rest starts three instances as
// processes, ends them in both ways, and counts what they did:
//
//	go run ./examples/leader
//
// With --listen it is one instance, until a SIGTERM or an interrupt. It starts a
// ZooKeeper server in its own process and logs the address, which the others need:
//
//	go run ./examples/leader --listen 127.0.0.1:8081 --id a
//	go run ./examples/leader --listen 127.0.0.1:8082 --id b --servers HOST:PORT
//	curl 127.0.0.1:8082/leader
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	// sessionTimeout is short, so that the killed leader is soon followed. A leader
	// that hears nothing of ZooKeeper stops after half of it: services that do not show
	// something use the default.
	sessionTimeout = 4 * time.Second
	// defaultPath is that of the election of instances that are started by hand.
	defaultPath = "/examples/leader/by-hand"
)

// instanceFlags are those of one instance.
type instanceFlags struct{ listen, id, path, report string }

func main() { program().Main() }

func program() example.Program {
	var f instanceFlags
	return example.Program{
		Name: "leader",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&f.listen, "listen", "", "be one instance, which serves HTTP at that `HOST:PORT`")
			flags.StringVar(&f.id, "id", "", "of the instance; by default host:pid")
			flags.StringVar(&f.path, "election", defaultPath, "the znode of the instances' election")
			flags.StringVar(&f.report, "report", "", "the `URL` of the program that counts; the instance ends with its input")
		},
		Server: []zktest.Option{zktest.WithTick(sessionTimeout / 2)},
		Run: func(ctx context.Context, servers []string, out io.Writer) error {
			if f.listen != "" {
				return instance(ctx, servers, f, out)
			}
			return demonstrate(ctx, servers, out)
		},
	}
}

// instance is one instance. The first line of its output is its URL.
func instance(ctx context.Context, servers []string, f instanceFlags, out io.Writer) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	log.Info("starting", "id", f.id, "servers", servers)
	s := &service{
		config: framework.Config{Servers: servers, SessionTimeout: sessionTimeout, Logger: log},
		path:   f.path, id: f.id, log: log,
	}
	if f.report == "" {
		s.work = every(time.Second, log, func(_ context.Context, token lease.Token) error {
			log.Info("a job of the leader", "token", token)
			return nil
		})
		return s.run(ctx, listener)
	}
	r := reports{url: f.report, id: f.id}
	s.work = r.term(every(jobInterval, log, r.job))
	ctx, cancel := example.WhileOpen(ctx, os.Stdin)
	defer cancel()
	return s.run(ctx, listener)
}
