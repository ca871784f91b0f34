package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
)

// withClient connects, and calls do with a client and the full path. The client has no
// chroot, because it would create that: "ls" changes nothing. --timeout bounds all of
// it.
func (p *program) withClient(fs *flag.FlagSet, conn *connection, path string, do func(ctx context.Context, client *framework.Client, full string) error) error {
	cfg, chroot, err := conn.config(p.env)
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
	if err := do(ctx, client, chroot+path); err != nil {
		return fmt.Errorf("%s: %w", fs.Name(), err)
	}
	return nil
}

// parseWithPath parses flags before and after the one argument, the path.
func (p *program) parseWithPath(fs *flag.FlagSet, args []string) (path string, err error) {
	if err := p.parse(fs, args); err != nil {
		return "", err
	}
	if fs.NArg() > 0 {
		path = fs.Arg(0)
		if err := p.parse(fs, fs.Args()[1:]); err != nil {
			return "", err
		}
	}
	verb := fs.Name()
	switch {
	case path == "":
		return "", usageErrorf("%s: no path: give that of a lock, as in: zkrecipes %s /locks/backup", verb, verb)
	case fs.NArg() > 0:
		return "", usageErrorf("%s: only one path at a time: what is %q?", verb, fs.Arg(0))
	case path == "/":
		return "", usageErrorf("%s: /: a lock has a node of its own, such as /locks/backup", verb)
	}
	if err := framework.ValidatePath(path); err != nil {
		return "", usageErrorf("%s: %v", verb, err)
	}
	return path, nil
}
