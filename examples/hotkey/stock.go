package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// work is how long the store takes for a sale.
const work = 4 * time.Millisecond

// A stock is what a database has of an article, divided into shares.
type stock struct{ shares []*share }

func newStock(pieces, shares int) *stock {
	s := new(stock)
	for i := range shares {
		s.shares = append(s.shares, &share{name: fmt.Sprint("share ", i), left: pieces*(i+1)/shares - pieces*i/shares})
	}
	return s
}

// open returns which shares have something left, as a query without a lock shows it.
func (s *stock) open() (open []int) {
	for i, sh := range s.shares {
		if left, _ := sh.read(); left > 0 {
			open = append(open, i)
		}
	}
	return open
}

// left is what was not sold.
func (s *stock) left() (sum int) {
	for _, sh := range s.shares {
		left, _ := sh.read()
		sum += left
	}
	return sum
}

// most is how many were selling from one share at the same time, at most.
func (s *stock) most() (most int) {
	for _, sh := range s.shares {
		_, atOnce := sh.read()
		most = max(most, atOnce)
	}
	return most
}

// A share is a row of the database. The database can read and write, but has no
// transactions. It refuses older tokens than it has seen: that of a holder that was
// paused, and does not know yet that it lost its lock. It sees the token before the
// holder reads: else a late write could come between that read and the holder's write.
// Tokens of different shares are not comparable, so each row keeps its own.
type share struct {
	name string

	mu      sync.Mutex
	left    int
	newest  lease.Token
	sellers int // now
	most    int // of them at once, ever
}

func (s *share) read() (left, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left, s.most
}

// sell sells one piece, if there is one. Between its read and its write nobody else may
// sell one: else both sell the same.
func (s *share) sell(ctx context.Context, token lease.Token) (sold bool, err error) {
	s.enter(+1)
	defer s.enter(-1)
	if err := s.accept(token); err != nil {
		return false, err
	}
	left, _ := s.read()
	if left == 0 {
		return false, nil
	}
	if err := retry.Sleep(ctx, work); err != nil {
		return false, err
	}
	err = s.write(left-1, token)
	return err == nil, err
}

// accept is part of each request that the holder of the lock sends.
func (s *share) accept(token lease.Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.compare(token)
}

func (s *share) write(left int, token lease.Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.compare(token); err != nil {
		return err
	}
	s.left = left
	return nil
}

func (s *share) compare(token lease.Token) error {
	if token < s.newest {
		return fmt.Errorf("%s: token %v is older than %v", s.name, token, s.newest)
	}
	s.newest = token
	return nil
}

// enter counts those who are selling.
func (s *share) enter(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sellers += change
	s.most = max(s.most, s.sellers)
}
