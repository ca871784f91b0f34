// Command sql sells pieces of an article whose stock is in a SQL database, through
// database/sql: without a lock, with a mutex, and with a mutex whose holder is stopped
// until its session has expired, and then goes on. Without a lock, and without the
// fencing token in the UPDATE, more is sold than there is; the program fails if not. It
// needs nothing but Go, on a system with SIGSTOP, and is a module of its own:
//
//	cd examples/sql && GOWORK=off go run .
//
// That uses SQLite in a temporary folder. With --postgres "host=… user=…", or a URL, it
// uses that PostgreSQL, in a schema of its own that it removes, and with --postgres
// throwaway one that it starts from the installed packages of Debian or Ubuntu
// (.ci/install-postgresql). The password is better in PGPASSWORD or ~/.pgpass than on
// the command line, where others see it.
//
// It starts a ZooKeeper server in its own process. With --servers HOST:PORT it uses
// that one.
//
// What to copy is in shop.go and, with the tables and the SQL, in stock.go.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	pieces    = 3
	customers = 8
	// sessionTimeout is that of the holder that is stopped.
	sessionTimeout = 2 * time.Second
	// tooLong is more than all takes on the slowest machine.
	tooLong = 2 * time.Minute
)

func main() { program().Main() }

// program returns the program, or the process of it that is stopped.
func program() example.Program {
	var p place
	var stopped string
	return example.Program{
		Name: "sql",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&p.postgres, "postgres", "", "the `connection` string of PostgreSQL, or throwaway; by default SQLite")
			flags.StringVar(&stopped, "stopped", "", "the `article`, for the process that is stopped")
			flags.StringVar(&p.tables, "tables", "", "the `place` of its tables")
		},
		Server: []zktest.Option{zktest.WithTick(sessionTimeout / 2)},
		Run: func(ctx context.Context, servers []string, out io.Writer) error {
			if stopped != "" {
				return beStopped(ctx, servers, p, stopped, os.Stdin, out)
			}
			return run(ctx, servers, p.postgres, out)
		},
	}
}

// run sells everything four times, in new tables.
func run(ctx context.Context, servers []string, postgres string, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	if postgres == "throwaway" {
		dsn, stop, err := startThrowaway(ctx)
		if err != nil {
			return err
		}
		return errors.Join(run(ctx, servers, dsn, out), stop())
	}
	p, remove, err := create(ctx, postgres)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	db, err := p.open()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	version, err := p.version(ctx, db)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, version)
	return play(ctx, db, acts(servers, p, db), out)
}

// acts returns what is shown.
func acts(servers []string, p place, db *sql.DB) []act {
	const withoutLock, withLock = "without-lock", "with-lock"
	return []act{
		{withoutLock, pieces, "no lock", true, func(ctx context.Context) error {
			return rush(ctx, withoutLock, buyWithoutLock(&careless{stock{db, withoutLock}}))
		}},
		{withLock, pieces, "a lock", false, func(ctx context.Context) error {
			return rush(ctx, withLock, buyWithLock(servers, withLock, &stock{db, withLock}))
		}},
		{withoutTokens, 1, "a lock, a holder stopped for longer than its session, its late write without the token", true, func(ctx context.Context) error {
			return stopHolder(ctx, servers, p, withoutTokens, sold, &careless{stock{db, withoutTokens}})
		}},
		{withTokens, 1, "the same, its late write with the token, and so refused", false, func(ctx context.Context) error {
			return stopHolder(ctx, servers, p, withTokens, refused, &stock{db, withTokens})
		}},
	}
}
