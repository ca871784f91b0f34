package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// A memory is a Ledger that remembers how it was called. It does not refuse a second
// bill: it is the lock, or the token, that must prevent that.
type memory struct {
	takes    time.Duration // a bill
	accounts []string

	mu     sync.Mutex
	newest lease.Token
	bills  []*bill // also those that failed, in the order in which they began
}

// A bill is a call of Bill.
type bill struct {
	account      string
	token        lease.Token
	began, ended time.Time
	err          error
}

// newMemory returns a ledger with n accounts.
func newMemory(n int, takes time.Duration) *memory {
	m := &memory{takes: takes}
	for i := range n {
		m.accounts = append(m.accounts, fmt.Sprint("account ", i+1))
	}
	return m
}

// Unbilled implements Ledger.
func (m *memory) Unbilled(_ context.Context, token lease.Token) (accounts []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, account := range m.accounts {
		if m.billed(account) == 0 {
			accounts = append(accounts, account)
		}
	}
	return accounts, m.accept(token)
}

// Bill implements Ledger.
func (m *memory) Bill(ctx context.Context, account string, token lease.Token) error {
	b := &bill{account: account, token: token, began: time.Now()}
	m.mu.Lock()
	m.bills = append(m.bills, b)
	m.mu.Unlock()
	err := retry.Sleep(ctx, m.takes)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		err = m.accept(token)
	}
	b.ended, b.err = time.Now(), err
	return err
}

func (m *memory) accept(token lease.Token) error {
	if token < m.newest {
		return fmt.Errorf("token %v is older than %v", token, m.newest)
	}
	m.newest = token
	return nil
}

// billed is how often an account was billed.
func (m *memory) billed(account string) (n int) {
	for _, b := range m.bills {
		if b.account == account && !b.ended.IsZero() && b.err == nil {
			n++
		}
	}
	return n
}

// check fails unless each account was billed once, and no two at the same time.
func (m *memory) check() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, account := range m.accounts {
		if n := m.billed(account); n != 1 {
			return fmt.Errorf("%s was billed %d times", account, n)
		}
	}
	for i, b := range m.bills[1:] {
		if before := m.bills[i]; b.began.Before(before.ended) {
			return fmt.Errorf("%s and %s were billed at the same time", before.account, b.account)
		}
	}
	return nil
}

// holders is how many leases the bills were made with.
func (m *memory) holders() int {
	var tokens []lease.Token
	for _, b := range m.bills {
		tokens = append(tokens, b.token)
	}
	slices.Sort(tokens)
	return len(slices.Compact(tokens))
}
