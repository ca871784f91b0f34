package main

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A row is a number in a database that can read and write, but has no transactions. It
// refuses older tokens than it has seen: that of a holder that was paused, and does not
// know yet that it lost its locks. The row sees the token with the read already. If it
// saw it with the write only, a late write could come between the next holder's read
// and its write, and be overwritten by what takes no account of it.
type row struct {
	name string

	mu     sync.Mutex
	value  int
	newest lease.Token
}

func (r *row) read(token lease.Token) (value int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value, r.accept(token)
}

func (r *row) write(value int, token lease.Token) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.accept(token); err != nil {
		return err
	}
	r.value = value
	return nil
}

// accept must be called with the mutex locked.
func (r *row) accept(token lease.Token) error {
	if token < r.newest {
		return fmt.Errorf("%s: token %v is older than %v", r.name, token, r.newest)
	}
	r.newest = token
	return nil
}

// last is the value in the end, when nobody writes any more.
func (r *row) last() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
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

// soldOnce tells whether each article was sold, and only once.
func (s *shop) soldOnce() bool {
	inCarts := 0
	for _, cart := range s.carts {
		inCarts += cart.last()
	}
	return s.sold.Load() == articles && inCarts == articles && s.stock.last() == 0
}

// String is what the shop has in the end.
func (s *shop) String() string {
	inCarts := 0
	for _, cart := range s.carts {
		inCarts += cart.last()
	}
	return fmt.Sprintf("%d orders confirmed, %d articles left, %d in the carts", s.sold.Load(), s.stock.last(), inCarts)
}

// move moves an article from the stock to a cart, if there is one. Between its reads
// and its writes another customer must not move one, nor the same customer on another
// device: else both take the same article, or one of two additions to the cart is lost.
//
// These are two writes without a transaction. If the second is refused, or its process
// dies in between, an article has left the stock and is in no cart: nothing is sold
// twice, but somebody has to find it. Where there are transactions, use one.
func (s *shop) move(customer int, tokens []lease.Token, meanwhile func()) error {
	cart := s.carts[customer]
	left, err := s.stock.read(tokens[stockToken])
	if err != nil {
		return err
	}
	had, err := cart.read(tokens[cartToken])
	if err != nil {
		return err
	}
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
