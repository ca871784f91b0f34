package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// schema is that of SQLite and of PostgreSQL, and so are all statements. Each row that
// a lock protects has a column for the newest fencing token that it has seen.
const schema = `
CREATE TABLE stock (
	article TEXT PRIMARY KEY,
	pieces  BIGINT NOT NULL,
	token   BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE orders (
	id      TEXT PRIMARY KEY,
	article TEXT NOT NULL
)`

// claim reads what is left, and leaves the token in the row: from now on the row
// refuses all older tokens. A SELECT would not do. If a late write came between it and
// the holder's own first write, the row would not know of a newer token yet, and both
// would sell the same piece.
const claim = `UPDATE stock SET token = $1 WHERE article = $2 AND token <= $1 RETURNING pieces`

// write changes no row if a newer holder has been at it. The comparison has to be in
// the statement that writes. A token that is compared in a SELECT before that, or in
// Go, is old when the write arrives: between the two the process may be stopped, or
// the UPDATE may wait for the lock on the row until the newer holder has committed.
// When it gets that lock, PostgreSQL (at READ COMMITTED, its default) looks at the
// WHERE again, with the row as it is by then; so it finds the newer token. At
// REPEATABLE READ and SERIALIZABLE it fails with SQLSTATE 40001 instead, and changes
// nothing either. SQLite has one writer at a time, and begins with the WHERE when that
// is this one.
const write = `UPDATE stock SET pieces = $1, token = $2 WHERE article = $3 AND token <= $2`

// confirm keeps an order, in the transaction that takes its piece. It fails if there is
// one with that id.
const confirm = `INSERT INTO orders (id, article) VALUES ($1, $2)`

// errFenced means that a newer holder of the lock has been at the row. Nothing was
// changed.
var errFenced = errors.New("the row has seen a newer token, or there is no row")

// A stock is what a database has of one article.
type stock struct {
	db      *sql.DB
	article string
}

// read returns what is left, to the holder of the lock.
func (s *stock) read(ctx context.Context, token lease.Token) (left int64, err error) {
	err = s.db.QueryRowContext(ctx, claim, int64(token), s.article).Scan(&left)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%s, token %v: %w", s.article, token, errFenced)
	}
	return left, err
}

// confirmed tells whether an order was confirmed before. Who has called read before
// gets an answer that stays true: an older holder can confirm nothing any more.
func (s *stock) confirmed(ctx context.Context, order string) (yes bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) > 0 FROM orders WHERE id = $1 AND article = $2`, order, s.article).Scan(&yes)
	return yes, err
}

// sell confirms an order, and leaves so many pieces.
func (s *stock) sell(ctx context.Context, token lease.Token, order string, left int64) error {
	return s.change(ctx, order, token, write, left, int64(token), s.article)
}

// change does an update of the stock, and confirms the order. Of other errors than
// errFenced, also that of an ended context, it is not known whether it has: see
// confirmed.
func (s *stock) change(ctx context.Context, order string, token lease.Token, update string, args ...any) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	result, err := tx.ExecContext(ctx, update, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return fmt.Errorf("%s, token %v: %w", s.article, token, errFenced)
	}
	if _, err := tx.ExecContext(ctx, confirm, order, s.article); err != nil {
		return err
	}
	return tx.Commit()
}
