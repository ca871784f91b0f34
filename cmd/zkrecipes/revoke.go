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

// errNobody means that there was nobody to ask.
var errNoContender = errors.New("nobody is there to be asked")

// revokeFlags is what the command line of "revoke" says.
type revokeFlags struct {
	connection
	path      string
	node      string
	all, json bool
}

// A request is the output of "revoke --json".
type revocation struct {
	Lock      string       `json:"lock"`
	Requested []queueEntry `json:"asked"`
}

// revoke asks holders to give way.
func (p *program) revoke(args []string) error {
	f := &revokeFlags{}
	fs := flag.NewFlagSet("revoke", flag.ContinueOnError)
	f.register(fs)
	fs.StringVar(&f.node, "node", "", "")
	fs.BoolVar(&f.all, "all", false, "")
	fs.BoolVar(&f.json, "json", false, "")
	var err error
	if f.path, err = p.parseWithPath(fs, args); err != nil {
		return err
	}
	if f.node != "" && f.all {
		return usageErrorf("revoke: --node and --all contradict each other")
	}
	return p.withClient(fs, &f.connection, f.path, func(ctx context.Context, client *framework.Client, full string) error {
		s, err := inspect.Path(ctx, client, full)
		if err != nil {
			return err
		}
		return p.ask(ctx, client, f, s)
	})
}

// ask asks those of a survey whom the flags choose. Whoever was asked before something
// went wrong is named all the same.
func (p *program) ask(ctx context.Context, client *framework.Client, f *revokeFlags, s *inspect.Survey) error {
	done := revocation{Lock: f.path, Requested: []queueEntry{}}
	var failed error
	for _, queue := range s.Queues {
		for i, c := range queue.Contenders {
			if failed != nil || !f.chooses(c) {
				continue
			}
			err := lease.RequestRevocation(ctx, client, c.Path)
			if errors.Is(err, framework.ErrNoNode) {
				continue // given back since we looked
			}
			if failed = err; err == nil {
				done.Requested = append(done.Requested, newQueueEntry(c, i+1))
				if !f.json {
					_ = printLine(p.stdout, "asked "+describe(c)) // it was asked, whoever is told
				}
			}
		}
	}
	if f.json {
		failed = errors.Join(failed, p.printJSON(done))
	}
	if failed == nil && len(done.Requested) == 0 {
		what := f.path
		if f.node != "" {
			what += ": " + f.node
		}
		return fmt.Errorf("%s: %w", what, errNoContender)
	}
	return failed
}

// chooses tells whether a contender is to be asked.
func (f *revokeFlags) chooses(c inspect.Contender) bool {
	switch {
	case f.node != "":
		return c.Node == f.node || c.Token != 0 && c.Token.String() == f.node
	case f.all:
		return true
	}
	return c.State != inspect.Waiting
}

// describe writes a contender in one line.
func describe(c inspect.Contender) string {
	who := c.Holder.String()
	if who == "" { // a client that says nothing about itself
		who = "session " + hexSession(c.Session)
	}
	return fmt.Sprintf("%s (%s, %s): %s", quote.Cell(c.Node), c.Kind, c.State, quote.Line(who))
}
