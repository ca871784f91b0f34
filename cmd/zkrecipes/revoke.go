package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// errNoContender means that no client was there to get a request.
var errNoContender = errors.New("no revocation was requested")

// revokeFlags is what the command line of "revoke" says.
type revokeFlags struct {
	connection
	path      string
	node      string
	successor option[string] // the id of a candidate
	all, json bool
	force     bool // take it away
}

// A revocation is the output of "revoke --json".
type revocation struct {
	Lock      string       `json:"lock"`
	Requested []queueEntry `json:"asked"`
	Successor *queueEntry  `json:"successor"` // nil without --successor, or if there is none
	Taken     []queueEntry `json:"taken"`     // by --force
}

func newRevocation(path string) revocation {
	return revocation{Lock: path, Requested: []queueEntry{}, Taken: []queueEntry{}} // arrays, also when they are empty
}

func (f *revokeFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("revoke", flag.ContinueOnError)
	f.register(fs)
	fs.StringVar(&f.node, "node", "", "")
	fs.Func("successor", "", f.successor.set(parseText))
	fs.BoolVar(&f.all, "all", false, "")
	fs.BoolVar(&f.force, "force", false, "")
	fs.BoolVar(&f.json, "json", false, "")
	return fs
}

// revoke requests that holders release what they hold.
func (p *program) revoke(args []string) error {
	f := &revokeFlags{}
	fs := f.flagSet()
	var err error
	if f.path, err = p.parseWithPath(fs, args); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if f.force {
		return p.takeAway(fs, f)
	}
	return p.withClient(fs, &f.connection, f.path, func(ctx context.Context, client *framework.Client, full string) error {
		if f.successor.given {
			return p.handOver(ctx, client, f, full)
		}
		s, err := inspect.Path(ctx, client, full)
		if err != nil {
			return err
		}
		return p.ask(ctx, client, f, s)
	})
}

// check returns an error for flags that make no sense together.
func (f *revokeFlags) check() error {
	switch chosen := f.node != "" || f.all; {
	case f.node != "" && f.all:
		return usageErrorf("revoke: --node and --all contradict each other")
	case f.force && (f.all || f.successor.given):
		return usageErrorf("revoke: --force is for one client: it contradicts --all and --successor")
	case f.successor.given && chosen:
		return usageErrorf("revoke: --successor and --node or --all contradict each other")
	case f.successor.given && f.successor.value == "":
		return usageErrorf("revoke: --successor is empty: give the id of a candidate, which is WHO in \"zkrecipes ls\"")
	}
	return nil
}

// ask requests the revocation of those contenders that the flags choose. If a request
// fails, it still prints the earlier ones.
func (p *program) ask(ctx context.Context, client *framework.Client, f *revokeFlags, s *inspect.Survey) error {
	done := newRevocation(f.path)
	var failed error
	for _, queue := range s.Queues {
		for i, c := range queue.Contenders {
			if failed != nil || !f.chooses(c) {
				continue
			}
			err := lease.RequestRevocation(ctx, client, c.Path)
			if errors.Is(err, framework.ErrNoNode) {
				continue // released since it was listed
			}
			if failed = err; err == nil {
				done.Requested = append(done.Requested, newQueueEntry(queue, i))
				if !f.json {
					_ = printLine(p.stdout, "revocation requested: "+describe(queue, c)) // the request is made, printed or not
				}
			}
		}
	}
	if f.json {
		failed = errors.Join(failed, p.printJSON(done))
	}
	if failed == nil && len(done.Requested) == 0 {
		return fmt.Errorf("%s: %w: %s", f.path, errNoContender, f.chosen())
	}
	return failed
}

// chooses reports whether the flags choose a contender.
func (f *revokeFlags) chooses(c inspect.Contender) bool {
	switch {
	case f.node != "":
		return c.Node == f.node || c.Token != 0 && c.Token.String() == f.node
	case f.all:
		return true
	}
	return c.State != inspect.Waiting
}

// chosen says which contenders there are not.
func (f *revokeFlags) chosen() string {
	switch {
	case f.node != "":
		return fmt.Sprintf("no client there has the node or token %q", f.node)
	case f.all:
		return "no client holds it or waits for it"
	}
	return "no client holds it"
}

// describe writes a contender in one line.
func describe(q inspect.Queue, c inspect.Contender) string {
	who := c.Holder.String()
	if who == "" { // a client that says nothing about itself
		who = "session " + hexSession(c.Session)
	}
	at := ""
	switch q.Recipe {
	case inspect.Stripe:
		at = fmt.Sprintf(", stripe %d", q.Stripe)
	case inspect.Run:
		at = ", run " + quote.Brief(q.Run)
	}
	return fmt.Sprintf("%s (%s, %s%s): %s", quote.Cell(c.Node), c.Kind, c.State, at, quote.Line(who))
}
