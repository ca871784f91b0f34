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
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
)

const (
	pieces    = 160
	customers = 200
	clients   = 4 // as if they were four programs
	atOnce    = 8 // customers that each client serves at the same time
)

var program = example.Program{Name: "hotkey", Run: run}

func main() { program.Main() }

// run sells all pieces three times.
func run(ctx context.Context, servers []string, out io.Writer) error {
	for _, shares := range []int{1, 4, 16} {
		s, began := newStock(pieces, shares), time.Now()
		sold, refused, err := flashSale(ctx, servers, s)
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
func flashSale(ctx context.Context, servers []string, s *stock) (sold, refused int, err error) {
	var served, bought atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, clients)
	for i := range errs {
		all.Go(func() {
			errs[i] = withShop(ctx, servers, s, func(shop *shop) error {
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
func withShop(ctx context.Context, servers []string, s *stock, do func(*shop) error) error {
	client, err := framework.Connect(ctx, framework.Config{Servers: servers, Logger: slog.New(slog.DiscardHandler)})
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
