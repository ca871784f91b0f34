package main

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A row is a number in a database that can read and write, but has no transactions. It
// refuses a write with an older token than it has seen: that of a holder that was
// paused, and does not know yet that it lost its locks.
type row struct {
	name string

	mu     sync.Mutex
	value  int
	newest lease.Token
}

func (r *row) read() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
}

func (r *row) write(value int, token lease.Token) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if token < r.newest {
		return fmt.Errorf("%s: token %v is older than %v", r.name, token, r.newest)
	}
	r.value, r.newest = value, token
	return nil
}

// A shop has a stock of one article, and a cart for each customer.
type shop struct {
	stock *row
	carts []*row
	sold  atomic.Int32 // how many orders were confirmed
}

func newShop(stock, customers int) *shop {
	s := &shop{stock: &row{name: "stock", value: stock}}
	for i := range customers {
		s.carts = append(s.carts, &row{name: fmt.Sprint("cart ", i)})
	}
	return s
}

// String is what the shop has in the end.
func (s *shop) String() string {
	inCarts := 0
	for _, cart := range s.carts {
		inCarts += cart.read()
	}
	return fmt.Sprintf("%d orders confirmed, %d articles left, %d in the carts", s.sold.Load(), s.stock.read(), inCarts)
}

// move moves an article from the stock to a cart, if there is one. Between its reads
// and its writes another customer must not move one, nor the same customer on another
// device: else both take the same article, or one of two additions to the cart is lost.
func (s *shop) move(customer int, tokens []lease.Token, meanwhile func()) error {
	cart := s.carts[customer]
	left, had := s.stock.read(), cart.read()
	meanwhile()
	if left == 0 {
		return nil // sold out
	}
	if err := s.stock.write(left-1, tokens[stockToken]); err != nil {
		return err
	}
	if err := cart.write(had+1, tokens[cartToken]); err != nil {
		return err
	}
	s.sold.Add(1)
	return nil
}
