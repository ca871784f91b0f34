package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// A database is what the instances share. It reads and writes, without transactions,
// but refuses older tokens than it has seen for that order: that of a process that was
// paused, and does not know yet that it lost the lock. It sees the token with the read
// already: else a late write could come between the next holder's read and its write.
type database struct {
	work time.Duration // between a read and a write

	mu   sync.Mutex
	rows map[string]*row
}

// A row is an order.
type row struct {
	lines   []string
	newest  lease.Token
	workers int // now
	most    int // of them at once, ever
}

func newDatabase(work time.Duration) *database {
	return &database{work: work, rows: map[string]*row{}}
}

// add adds a line to an order, and returns how many it has. Between its read and its
// write nobody else may do that: else one line is missing.
func (db *database) add(ctx context.Context, id, line string, token lease.Token) (n int, err error) {
	db.change(id, func(r *row) {
		r.workers++
		r.most = max(r.most, r.workers)
	})
	defer db.change(id, func(r *row) { r.workers-- })
	var lines []string
	db.change(id, func(r *row) { lines, err = append(lines, r.lines...), r.accept(id, token) })
	if err != nil {
		return 0, err
	}
	lines = append(lines, line)
	if err := retry.Sleep(ctx, db.work); err != nil {
		return 0, err
	}
	db.change(id, func(r *row) {
		if err = r.accept(id, token); err == nil {
			r.lines = lines
		}
	})
	return len(lines), err
}

// accept refuses a token that is older than one that the order has seen.
func (r *row) accept(id string, token lease.Token) error {
	if token < r.newest {
		return fmt.Errorf("order %s: token %v is older than %v", id, token, r.newest)
	}
	r.newest = token
	return nil
}

func (db *database) change(id string, f func(*row)) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.rows[id] == nil {
		db.rows[id] = new(row)
	}
	f(db.rows[id])
}

// count returns how many lines all orders have, and how many at most have worked on one
// order at once.
func (db *database) count() (lines, most int) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, r := range db.rows {
		lines, most = lines+len(r.lines), max(most, r.most)
	}
	return lines, most
}
