// Command hotkey sells one article to more customers than there are pieces of it, under
// one lock, and then with the stock divided into 4 and 16 shares with a lock each. It
// needs nothing but Go:
//
//	go run ./examples/hotkey
//
// It starts a ZooKeeper server in its own process. With --servers HOST:PORT it uses
// that one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	pieces    = 160
	customers = 200
	clients   = 4 // as if they were four programs
	atOnce    = 8 // customers that each client serves at the same time
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := start(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hotkey:", err)
		os.Exit(1)
	}
}

// start runs against the server of the command line, or one of its own.
func start(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("hotkey", flag.ContinueOnError)
	servers := flags.String("servers", "", "`HOST:PORT` of a ZooKeeper server; by default one of its own")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *servers != "" {
		return run(ctx, *servers, out)
	}
	server, err := zktest.Start()
	if err != nil {
		return err
	}
	defer server.Close()
	return run(ctx, server.Addr(), out)
}

// run sells all pieces three times.
func run(ctx context.Context, server string, out io.Writer) error {
	for _, shares := range []int{1, 4, 16} {
		s, began := newStock(pieces, shares), time.Now()
		sold, refused, err := flashSale(ctx, server, s)
		if err != nil {
			return err
		}
		if left := s.left(); sold+left != pieces || s.most() > 1 {
			return fmt.Errorf("%d sold and %d left of %d, and up to %d sellers at one share", sold, left, pieces, s.most())
		}
		rate := float64(sold) / time.Since(began).Seconds()
		fmt.Fprintf(out, "%d pieces in %d shares: %d sold, %d refused, %.0f sales a second\n", pieces, shares, sold, refused, rate)
	}
	fmt.Fprintln(out, "no piece was sold twice, and no share had two sellers at once")
	return nil
}

// flashSale has all customers come at the same time, and returns how many got a piece
// and how many did not.
func flashSale(ctx context.Context, server string, s *stock) (sold, refused int, err error) {
	var served, bought atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, clients)
	for i := range errs {
		all.Go(func() {
			errs[i] = withShop(ctx, server, s, func(shop *shop) error {
				return together(atOnce, func() error {
					for served.Add(1) <= customers {
						ok, err := shop.buy(ctx)
						if err != nil {
							return err
						}
						if ok {
							bought.Add(1)
						}
					}
					return nil
				})
			})
		})
	}
	all.Wait()
	sold = int(bought.Load())
	return sold, customers - sold, errors.Join(errs...)
}

// withShop calls do with a shop that has a client of its own.
func withShop(ctx context.Context, server string, s *stock, do func(*shop) error) error {
	client, err := framework.Connect(ctx, framework.Config{Servers: []string{server}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer client.Close()
	shop, err := newShop(client, s)
	if err != nil {
		return err
	}
	return do(shop)
}

// together calls do in n goroutines.
func together(n int, do func() error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = do() })
	}
	all.Wait()
	return errors.Join(errs...)
}
