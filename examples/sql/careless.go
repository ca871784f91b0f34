package main

import (
	"context"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// careless is a stock that compares no tokens, as most programs have it: to see what
// becomes of it.
type careless struct{ stock }

func (c *careless) read(ctx context.Context, _ lease.Token) (left int64, err error) {
	err = c.db.QueryRowContext(ctx, `SELECT pieces FROM stock WHERE article = $1`, c.article).Scan(&left)
	return left, err
}

func (c *careless) sell(ctx context.Context, token lease.Token, order string, left int64) error {
	return c.change(ctx, order, token, `UPDATE stock SET pieces = $1 WHERE article = $2`, left, c.article)
}
