package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

const (
	// same clients send a request for one order, and many for orders of their own.
	same, many = 20, 60
	// waiters send one for an order that another program has locked.
	waiters     = 5
	lockedOrder = "13"
	// scrapeInterval is how often metrics are read to wait for something.
	scrapeInterval = 10 * time.Millisecond
)

// demonstrate runs the service, sends it requests, and compares.
func demonstrate(ctx context.Context, servers []string, wait, work time.Duration, out io.Writer) error {
	db := newDatabase(work)
	s, err := newService(ctx, framework.Config{Servers: servers, Logger: slog.New(slog.DiscardHandler)}, db, wait)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	urls, over := make(chan string, 1), make(chan error, 1)
	go func() { over <- s.listen(serving, "127.0.0.1:0", func(url string) { urls <- url }) }()
	var t *traffic
	select {
	case url := <-urls:
		t = newTraffic(url)
	case err := <-over:
		return err
	}
	defer t.transport.CloseIdleConnections()

	err = t.play(ctx, servers, out)
	stop()
	if ended := <-over; err == nil {
		err = ended
	}
	if err != nil {
		return err
	}
	return report(ctx, s, t, db, out)
}

// play sends all requests.
func (t *traffic) play(ctx context.Context, servers []string, out io.Writer) error {
	orders := slices.Repeat([]string{"4711"}, same)
	for i := range many {
		orders = append(orders, strconv.Itoa(100+i))
	}
	t.send(ctx, orders...)
	fmt.Fprintf(out, "at once %d requests for one order, and %d for one each\n", same, many)
	release, err := lock(ctx, servers, lockedOrder)
	if err != nil {
		return err
	}
	defer release()
	if err := t.hangUp(ctx); err != nil {
		return err
	}
	t.send(ctx, slices.Repeat([]string{lockedOrder}, waiters)...)
	fmt.Fprintf(out, "%d requests for an order that another program has locked, and one whose client hangs up\n", waiters)
	return context.Cause(ctx)
}

// lock locks an order, as another program does.
func lock(ctx context.Context, servers []string, id string) (release func(), err error) {
	client, err := framework.Connect(ctx, framework.Config{Servers: servers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	locks, err := striped.New(client, locksPath, stripes)
	if err != nil {
		client.Close()
		return nil, err
	}
	held, err := locks.For(id).Acquire(ctx, lease.Forever)
	if err != nil {
		client.Close()
		return nil, err
	}
	return func() {
		_ = held.Release() // whether it lasted does not matter here
		client.Close()
	}, nil
}

// hangUp is a client that waits for the locked order, and hangs up.
func (t *traffic) hangUp(ctx context.Context) error {
	waiting, hangUp := context.WithCancel(ctx)
	answered := make(chan struct{})
	go func() {
		t.post(waiting, lockedOrder)
		close(answered)
	}()
	defer func() {
		hangUp()
		<-answered
	}()
	for {
		now, err := t.metrics(ctx)
		if err != nil || now.of("zkrecipes_acquires_waiting", "").sum() > 0 {
			return err
		}
		select {
		case <-answered: // that it may have been for too long already
			return nil
		case <-time.After(scrapeInterval):
		}
	}
}

// report prints what the metrics say when all is over, and compares that.
func report(ctx context.Context, s *service, t *traffic, db *database, out io.Writer) error {
	answer := httptest.NewRecorder() // as nobody listens any more
	s.handler().ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", http.NoBody))
	now := parse(answer.Body.String())
	for _, metric := range []string{
		"zkrecipes_acquire_wait_seconds_count", "zkrecipes_acquire_wait_seconds_sum", "zkrecipes_acquires_waiting",
		"zkrecipes_hold_seconds_count", "zkrecipes_hold_seconds_sum", "zkrecipes_holds",
	} {
		for _, line := range now.of(metric, "") {
			fmt.Fprintln(out, line)
		}
	}
	fmt.Fprintf(out, "zkrecipes_losses_total, of all reasons: %v\n", now.of("zkrecipes_losses_total", "").sum())
	lines, most := db.count()
	fmt.Fprintf(out, "clients saw %d times 200, and %d times 503; %d hung up; %d lines were added, by %d at once to one order\n",
		t.changed, t.busy, t.gone, lines, most)
	if t.other != nil {
		return t.other
	}
	if lines != t.changed || most > 1 {
		return fmt.Errorf("%d lines were added, with %d answers 200, by %d at once", lines, t.changed, most)
	}
	return now.agree(t, lines)
}
