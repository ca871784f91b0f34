package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// An act sells one article, in one of the ways to do that.
type act struct {
	article  string
	pieces   int
	how      string
	oversold bool // that has to come of it
	sale     func(ctx context.Context) error
}

// play plays all acts, and fails unless more is sold than there is where that has to
// happen, and only there.
func play(ctx context.Context, db *sql.DB, acts []act, out io.Writer) error {
	for _, a := range acts {
		if _, err := db.ExecContext(ctx, `INSERT INTO stock (article, pieces) VALUES ($1, $2)`, a.article, a.pieces); err != nil {
			return err
		}
		if err := a.sale(ctx); err != nil {
			return fmt.Errorf("%s: %w", a.how, err)
		}
		t, err := count(ctx, db, a.article)
		if err != nil {
			return err
		}
		t.pieces = a.pieces
		fmt.Fprintf(out, "%s: %v\n", a.how, t)
		if err := t.check(a.oversold); err != nil {
			return fmt.Errorf("%s: %w", a.how, err)
		}
	}
	return nil
}

// A tally is what there is of an article in the end.
type tally struct{ pieces, sold, left int }

func count(ctx context.Context, db *sql.DB, article string) (t tally, err error) {
	const query = `SELECT pieces, (SELECT count(*) FROM orders WHERE article = $1) FROM stock WHERE article = $1`
	err = db.QueryRowContext(ctx, query, article).Scan(&t.left, &t.sold)
	return t, err
}

// String describes the tally.
func (t tally) String() string {
	text := fmt.Sprintf("%d sold of %d, %d left", t.sold, t.pieces, t.left)
	if t.sold > t.pieces {
		text += ", OVERSOLD"
	}
	return text
}

// check fails if it is not as it has to be.
func (t tally) check(oversold bool) error {
	switch {
	case oversold && t.sold <= t.pieces:
		return fmt.Errorf("not oversold, although nothing prevents it: %v", t)
	case !oversold && (t.sold != t.pieces || t.left != 0):
		return fmt.Errorf("not each piece is sold once: %v", t)
	}
	return nil
}

// rush has all customers buy at the same time, until one of them fails.
func rush(ctx context.Context, article string, buy func(ctx context.Context, order string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, customers)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			if errs[i] = buy(ctx, fmt.Sprintf("%s, customer %d", article, i)); errs[i] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// buyWithoutLock returns a function with which all have read the stock before anyone
// writes.
func buyWithoutLock(s shelf) func(ctx context.Context, order string) error {
	var reads atomic.Int32
	all := make(chan struct{})
	return func(ctx context.Context, order string) error {
		_, err := purchase(ctx, s, 0, order, func(ctx context.Context, _ string) error {
			if reads.Add(1) == customers {
				close(all)
			}
			select {
			case <-all:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		return err
	}
}

// buyWithLock returns a function that has a client of its own for each customer, as if
// each was served by another machine.
func buyWithLock(servers []string, article string, s shelf) func(ctx context.Context, order string) error {
	return func(ctx context.Context, order string) error {
		return withShop(ctx, servers, framework.DefaultSessionTimeout, article, s, func(shop *shop) error {
			_, err := shop.buy(ctx, order)
			return err
		})
	}
}

// withShop calls do with a shop that has a client of its own.
func withShop(ctx context.Context, servers []string, timeout time.Duration, article string, s shelf, do func(*shop) error) error {
	client, err := framework.Connect(ctx, framework.Config{Servers: servers, SessionTimeout: timeout, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer client.Close()
	shop, err := newShop(client, article, s)
	if err != nil {
		return err
	}
	return do(shop)
}
