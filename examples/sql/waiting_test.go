package main

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// testWaiting has a write that arrived in time wait in the database, for a lock on its
// row, until a newer holder has committed.
func testWaiting(t *testing.T, p place, db *sql.DB) {
	t.Run("a write that waits sees the newer token", func(t *testing.T) {
		s := newStock(t, db, 1)
		err := overtake(t, s, func(ctx context.Context) error { return s.sell(ctx, 7, t.Name()+"late", 0) })
		require.ErrorIs(t, err, errFenced)
		requireTally(t, s, 0, 1)
		require.NoError(t, s.sell(t.Context(), 9, t.Name(), 0))
		requireTally(t, s, 1, 0)
	})
	t.Run("a mistake: the token is compared before the write", func(t *testing.T) {
		s := newStock(t, db, 1)
		require.NoError(t, overtake(t, s, func(ctx context.Context) error { return compareAndWrite(ctx, s, 7) }))
		requireTally(t, s, 0, 0) // the write of the older holder
	})
	for _, level := range []string{"repeatable read", "serializable"} {
		higher, err := place{p.postgres + " default_transaction_isolation='" + level + "'", p.tables}.open()
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, higher.Close()) })
		for how, write := range map[string]func(context.Context, *stock) error{
			"in the write":     func(ctx context.Context, s *stock) error { return s.sell(ctx, 7, t.Name(), 0) },
			"before the write": func(ctx context.Context, s *stock) error { return compareAndWrite(ctx, s, 7) },
		} {
			t.Run(level+", the token is compared "+how+", which fails", func(t *testing.T) {
				s := newStock(t, db, 1)
				err := overtake(t, s, func(ctx context.Context) error { return write(ctx, &stock{higher, s.article}) })
				var failed *pgconn.PgError
				require.ErrorAs(t, err, &failed)
				require.Equal(t, "40001", failed.Code)
				requireTally(t, s, 0, 1)
			})
		}
	}
}

// compareAndWrite compares the token in Go.
func compareAndWrite(ctx context.Context, s *stock, token int64) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var newest int64
	if err := tx.QueryRowContext(ctx, `SELECT token FROM stock WHERE article = $1`, s.article).Scan(&newest); err != nil {
		return err
	}
	if newest > token {
		return errFenced
	}
	if _, err := tx.ExecContext(ctx, `UPDATE stock SET pieces = 0 WHERE article = $1`, s.article); err != nil {
		return err
	}
	return tx.Commit()
}

// overtake has a newer holder read the stock, in a transaction that it commits when the
// write of the older one waits for it.
func overtake(t *testing.T, s *stock, write func(context.Context) error) error {
	t.Helper()
	ctx := t.Context()
	newer, err := s.db.BeginTx(ctx, nil)
	require.NoError(t, err)
	defer func() { _ = newer.Rollback() }()
	var left int
	require.NoError(t, newer.QueryRowContext(ctx, claim, 9, s.article).Scan(&left))

	written := make(chan error, 1)
	go func() { written <- write(ctx) }()
	const query = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	for waiting := 0; waiting == 0; {
		require.NoError(t, s.db.QueryRowContext(ctx, query).Scan(&waiting))
		require.Empty(t, written)
	}
	require.NoError(t, newer.Commit())
	return <-written
}
