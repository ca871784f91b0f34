package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// The articles that a process sells that is stopped, and another one.
const (
	withoutTokens = "without-tokens"
	withTokens    = "with-tokens"
)

// What that process says. It reads one line after the first.
const (
	writing = "writing"
	sold    = "sold"
	refused = "refused"
)

// beStopped is the process that is stopped, on its way from the read to the write.
func beStopped(ctx context.Context, servers []string, p place, article string, in io.Reader, out io.Writer) error {
	db, err := p.open()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	s := &late{shelf: shelfOf(db, article), in: in, out: out}
	return withShop(ctx, servers, sessionTimeout, article, s, func(shop *shop) error {
		ok, err := shop.buy(ctx, article+", stopped")
		for !s.stopped && (errors.Is(err, lease.ErrLost) || errors.Is(err, framework.ErrSessionLost)) { // a slow machine
			ok, err = shop.buy(ctx, article+", stopped")
		}
		switch {
		case ok:
			fmt.Fprintln(out, sold)
		case errors.Is(err, errFenced):
			fmt.Fprintln(out, refused)
		case err == nil:
			return errors.New("sold out before it was stopped")
		default:
			return err
		}
		return nil
	})
}

// late is a stock whose process is stopped at the worst moment of a write: the driver
// has looked at the context for the last time, and the first byte has not left yet.
// That moment is short, but no program is without it; and when the process goes on,
// nothing there learns that the lease was lost.
type late struct {
	shelf
	in      io.Reader
	out     io.Writer
	stopped bool
}

func (l *late) sell(ctx context.Context, token lease.Token, order string, left int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.stopped = true
	fmt.Fprintln(l.out, writing)
	if _, err := bufio.NewReader(l.in).ReadString('\n'); err != nil {
		return err
	}
	return l.shelf.sell(context.WithoutCancel(ctx), token, order, left)
}

// stopHolder has a process read the stock with the lock, and stops it before it writes.
// When its session has expired another customer gets the lock, and buys. Then the
// process goes on, and writes.
func stopHolder(ctx context.Context, servers []string, p place, article, says string, s shelf) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "--servers", strings.Join(servers, ","), "--postgres", p.postgres, "--tables", p.tables, "--stopped", article)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			cancel() // kills it
		}
		if ended := cmd.Wait(); err == nil {
			err = ended
		}
	}()
	lines := bufio.NewScanner(output)
	if err := expect(lines, writing); err != nil {
		return err
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if err := buyWithLock(servers, article, s)(ctx, article+", next"); err != nil {
		return err
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	if _, err := io.WriteString(input, "\n"); err != nil {
		return err
	}
	return expect(lines, says)
}

// expect reads a line of the process.
func expect(lines *bufio.Scanner, says string) error {
	lines.Scan()
	if lines.Text() != says {
		return fmt.Errorf("the process says %q instead of %q", lines.Text(), says)
	}
	return lines.Err()
}

// shelfOf returns the stock of one of these articles.
func shelfOf(db *sql.DB, article string) shelf {
	if article == withoutTokens {
		return &careless{stock{db, article}}
	}
	return &stock{db, article}
}
