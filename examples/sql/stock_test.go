package main

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// newTables makes tables for a test, in SQLite or in that PostgreSQL.
func newTables(t *testing.T, postgres string) (place, *sql.DB) {
	t.Helper()
	p, remove, err := create(t.Context(), postgres)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, remove()) })
	db, err := p.open()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return p, db
}

// newStock puts an article into the stock.
func newStock(t *testing.T, db *sql.DB, pieces int) *stock {
	t.Helper()
	_, err := db.ExecContext(t.Context(), `INSERT INTO stock (article, pieces) VALUES ($1, $2)`, t.Name(), pieces)
	require.NoError(t, err)
	return &stock{db, t.Name()}
}

func requireTally(t *testing.T, s *stock, sold, left int) {
	t.Helper()
	got, err := count(context.WithoutCancel(t.Context()), s.db, s.article)
	require.NoError(t, err)
	require.Equal(t, tally{sold: sold, left: left}, got)
}

// The same statements do the same in both databases.
func TestStock(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		_, db := newTables(t, "")
		testStock(t, db)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		p, db := newTables(t, throwawayFor(t))
		testStock(t, db)
		testWaiting(t, p, db)
	})
}

func testStock(t *testing.T, db *sql.DB) {
	t.Run("old tokens are refused", func(t *testing.T) {
		ctx, s := t.Context(), newStock(t, db, 3)
		requireRead(t, s, 7, 3)
		requireRead(t, s, 7, 3)
		require.NoError(t, s.sell(ctx, 7, t.Name(), 2))
		requireRead(t, s, 1<<40, 2)
		require.ErrorIs(t, s.sell(ctx, 7, "late", 1), errFenced)
		_, err := s.read(ctx, 7)
		require.ErrorIs(t, err, errFenced)
		requireTally(t, s, 1, 2)
	})
	t.Run("the next holder has read and not written", func(t *testing.T) {
		ctx, s := t.Context(), newStock(t, db, 1)
		requireRead(t, s, 7, 1)
		requireRead(t, s, 9, 1)
		require.ErrorIs(t, s.sell(ctx, 7, t.Name()+"late", 0), errFenced)
		require.NoError(t, s.sell(ctx, 9, t.Name(), 0))
		requireTally(t, s, 1, 0)
	})
	t.Run("a mistake: the token is compared, but not by the read", func(t *testing.T) {
		ctx, s := t.Context(), newStock(t, db, 1)
		requireRead(t, &careless{*s}, 7, 1)
		requireRead(t, &careless{*s}, 9, 1)
		require.NoError(t, s.sell(ctx, 7, t.Name()+"late", 0))
		require.NoError(t, s.sell(ctx, 9, t.Name(), 0))
		requireTally(t, s, 2, 0) // of 1
	})
	t.Run("an order is confirmed once", func(t *testing.T) {
		ctx, s := t.Context(), newStock(t, db, 3)
		paid := 0
		pay := func(_ context.Context, order string) error { require.Equal(t, t.Name(), order); paid++; return nil }
		for token := range lease.Token(2) {
			sold, err := purchase(ctx, s, token, t.Name(), pay)
			require.NoError(t, err)
			require.True(t, sold)
		}
		require.Equal(t, 1, paid)
		require.Error(t, s.sell(ctx, 9, t.Name(), 1))
		requireTally(t, s, 1, 2)
	})
	t.Run("nothing is sold that is not paid, or not there", func(t *testing.T) {
		ctx, s := t.Context(), newStock(t, db, 1)
		refusal := errors.New("no credit")
		sold, err := purchase(ctx, s, 1, t.Name(), func(context.Context, string) error { return refusal })
		require.ErrorIs(t, err, refusal)
		require.False(t, sold)
		requireTally(t, s, 0, 1)
		require.NoError(t, s.sell(ctx, 1, t.Name(), 0))
		sold, err = purchase(ctx, s, 2, t.Name()+"next", nil)
		require.NoError(t, err)
		require.False(t, sold)
		requireTally(t, s, 1, 0)
	})
}

func requireRead(t *testing.T, s shelf, token lease.Token, left int64) {
	t.Helper()
	got, err := s.read(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, left, got)
}
