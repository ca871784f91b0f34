package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite", in pure Go
)

// A place is where the tables are.
type place struct {
	postgres string // the connection string, or "" for SQLite
	tables   string // a schema of PostgreSQL, or a file of SQLite
}

// create makes new tables, in a place that remove removes.
func create(ctx context.Context, postgres string) (p place, remove func() error, err error) {
	if postgres == "" {
		p, remove, err = temporaryFile()
	} else {
		p, remove, err = newSchema(ctx, postgres)
	}
	if err != nil {
		return p, nil, err
	}
	if err := p.exec(ctx, schema); err != nil {
		return p, nil, errors.Join(err, remove())
	}
	return p, remove, nil
}

// temporaryFile returns a place for SQLite.
func temporaryFile() (p place, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "sql")
	if err != nil {
		return p, nil, err
	}
	return place{tables: filepath.Join(dir, "shop.db")}, func() error { return os.RemoveAll(dir) }, nil
}

// newSchema returns a schema of PostgreSQL in which no other run has its tables.
func newSchema(ctx context.Context, postgres string) (p place, remove func() error, err error) {
	p = place{postgres: postgres, tables: fmt.Sprintf("examples_sql_%x", rand.Uint64())} //nolint:gosec // not a secret
	if err := p.exec(ctx, "CREATE SCHEMA "+p.tables); err != nil {
		return p, nil, err
	}
	return p, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return p.exec(ctx, "DROP SCHEMA "+p.tables+" CASCADE")
	}, nil
}

func (p place) exec(ctx context.Context, statements string) error {
	db, err := p.open()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, statements)
	return err
}

// open returns a pool of connections.
func (p place) open() (*sql.DB, error) {
	if p.postgres == "" {
		// A transaction waits for others that write, up to 30 seconds, and does so when
		// it begins, not when it has read something that is old by then.
		file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: p.tables}).EscapedPath(), RawQuery: "_pragma=busy_timeout(30000)&_txlock=immediate"}
		return sql.Open("sqlite", file.String())
	}
	config, err := pgx.ParseConfig(p.postgres)
	if err != nil {
		// The text of the error can have a part of the password.
		return nil, errors.New("--postgres: neither a URL nor a list of keywords and values, as psql has them")
	}
	config.RuntimeParams["search_path"] = p.tables
	return stdlib.OpenDB(*config), nil
}

// version names the database.
func (p place) version(ctx context.Context, db *sql.DB) (name string, err error) {
	query, format := `SELECT sqlite_version()`, "SQLite %s"
	if p.postgres != "" {
		query, format = `SELECT split_part(current_setting('server_version'), ' ', 1)`, "PostgreSQL %s"
	}
	err = db.QueryRowContext(ctx, query).Scan(&name)
	return fmt.Sprintf(format, name), err
}
