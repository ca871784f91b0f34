// Command web is an HTTP service that changes an order under a lock, with metrics for
// Prometheus. It shows
//
//   - an endpoint that waits for a lock, but not for long: then it answers 503 with
//     Retry-After, and it stops waiting when the client hangs up;
//   - which metrics say how the locks do, and that they agree with what clients saw;
//   - a shutdown that finishes the requests that are under way.
//
// orders.go and service.go are the service. The rest sends it requests, some for an
// order that another program has locked, and compares. It is a module of its own:
//
//	cd examples/web && GOWORK=off go run .
//
// With --listen it serves until a SIGTERM or an interrupt:
//
//	GOWORK=off go run . --listen 127.0.0.1:8080 --work 5s
//	curl -d 'one book' 127.0.0.1:8080/orders/4711
//	curl 127.0.0.1:8080/metrics
//
// It starts a ZooKeeper server in its own process. With --servers HOST:PORT it uses
// that one.
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
)

func main() { program().Main() }

func program() example.Program {
	var listen string
	var wait, work time.Duration
	return example.Program{
		Name: "web",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&listen, "listen", "", "serve HTTP at that `HOST:PORT`")
			flags.DurationVar(&wait, "wait", 2*time.Second, "how long a request waits for its order")
			flags.DurationVar(&work, "work", 5*time.Millisecond, "how long the database takes")
		},
		Run: func(ctx context.Context, servers []string, out io.Writer) error {
			if listen == "" {
				return demonstrate(ctx, servers, wait, work, out)
			}
			log := slog.New(slog.NewTextHandler(os.Stderr, nil))
			s, err := newService(ctx, framework.Config{Servers: servers, Logger: log}, newDatabase(work), wait)
			if err != nil {
				return err
			}
			return s.listen(ctx, listen, func(url string) { fmt.Fprintln(out, "serving at", url) })
		},
	}
}

// listen is run with a listener of its own.
func (s *service) listen(ctx context.Context, addr string, ready func(url string)) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		s.client.Close()
		return err
	}
	ready("http://" + listener.Addr().String())
	return s.run(ctx, listener)
}
