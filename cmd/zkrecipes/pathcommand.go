package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework"
)

// withClient connects, and calls do with a client and the full path. The client has no
// chroot, because it would create that: "ls" changes nothing. --timeout bounds all of
// it.
func (p *program) withClient(fs *flag.FlagSet, conn *connection, path string, do func(ctx context.Context, client *framework.Client, full string) error) error {
	cfg, chroot, err := conn.config(p.auth)
	if err != nil {
		return err
	}
	limit := waitLimit{duration: conn.timeout.value}.forConnect()
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, unanswered("no answer within %v", limit))
	defer cancel()
	client, err := connect(ctx, cfg, limit)
	if err != nil {
		return err
	}
	defer client.Close()
	full := cmp.Or(strings.TrimSuffix(chroot+path, "/"), "/") // the path is "/" if all below it is meant
	if err := do(ctx, client, full); err != nil {
		return fmt.Errorf("%s: %w", fs.Name(), err)
	}
	return nil
}

// parseWithPath parses flags and the one argument, the path of a lock.
func (p *program) parseWithPath(fs *flag.FlagSet, args []string) (path string, err error) {
	if path, err = p.parseWithArgument(fs, args); err != nil {
		return "", err
	}
	return path, checkLockPath(fs.Name(), path)
}

// parseWithArgument parses flags and one argument, a path, which is "" if there is
// none.
func (p *program) parseWithArgument(fs *flag.FlagSet, args []string) (path string, err error) {
	err = p.parse(fs, args)
	switch {
	case err != nil:
		return "", err
	case fs.NArg() > 1:
		return "", usageErrorf("%s: only one path at a time: what is %q?", fs.Name(), fs.Arg(1))
	case fs.NArg() == 1 && fs.Arg(0) == "":
		return "", checkPath(fs.Name(), "")
	}
	return fs.Arg(0), nil
}

// checkLockPath finds the mistakes in the path of a lock that show without a server; ""
// means that there is none.
func checkLockPath(verb, path string) error {
	if path == "" {
		return usageErrorf("%s: no path: give that of a lock, as in: zkrecipes %s %s", verb, verb, examplePath(verb))
	}
	return checkPath(verb, path)
}
