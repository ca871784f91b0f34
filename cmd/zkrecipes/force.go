package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// errNotTaken means that no contender's node was deleted.
var errNotTaken = errors.New("nothing was taken away")

// errLeft means that the contender has left by itself.
var errLeft = fmt.Errorf("%w: it has been released meanwhile", errNotTaken)

// A taking takes away what one contender holds, by deleting its node: "revoke --force".
type taking struct {
	*program
	*revokeFlags
	connected bool

	// What was seen of the contender.
	queue inspect.Queue
	at    int
	delay time.Duration // the lock-delay of the queue; 0 if there is none
	done  revocation
}

// takeAway takes away what a contender holds: the one that is named, or the only
// holder, if who runs this confirms it at a terminal.
func (p *program) takeAway(fs *flag.FlagSet, f *revokeFlags) error {
	t := &taking{program: p, revokeFlags: f, done: newRevocation(f.path)}
	named := f.node != ""
	if _, _, typed := windowOf(p.stdin); !named && !typed {
		return usageErrorf("revoke: --force without a terminal: name the holder with --node TOKEN, as \"zkrecipes ls\" shows it")
	}
	err := p.withClient(fs, &f.connection, f.path, func(ctx context.Context, client *framework.Client, full string) error {
		t.connected = true
		if err := t.choose(ctx, client, full); err != nil || !named {
			return err
		}
		return t.take(ctx, client)
	})
	if err == nil && !named {
		// People take longer to answer than requests: no session waits for them.
		if err = t.confirm(); err == nil {
			err = p.withClient(fs, &f.connection, f.path, func(ctx context.Context, client *framework.Client, _ string) error { return t.take(ctx, client) })
		}
	}
	if f.json && t.connected {
		err = errors.Join(err, p.printJSON(t.done))
	}
	return err
}

// choose finds the contender. There must be exactly one: a token can be that of several
// nodes, which one transaction has made, such as several permits.
func (t *taking) choose(ctx context.Context, client *framework.Client, full string) error {
	s, err := inspect.Path(ctx, client, full)
	if err != nil {
		return err
	}
	var found []string
	for _, queue := range s.Queues {
		for i, c := range queue.Contenders {
			if t.chooses(c) {
				t.queue, t.at = queue, i
				found = append(found, c.Node)
			}
		}
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("%s: %w: %s", t.path, errNotTaken, t.chosen())
	case 1:
		t.delay = delayOf(s, t.queue)
		return nil
	}
	what := "that many clients hold it"
	if t.node != "" {
		what = "that many nodes have the token " + t.node
	}
	return usageErrorf("%s: %d: %s: name one with --node: %s", t.path, len(found), what, firstFew(found))
}

// delayOf returns the lock-delay of a queue, 0 if it has none.
func delayOf(s *inspect.Survey, q inspect.Queue) time.Duration {
	for _, d := range s.LockDelays {
		if same := d.Stripe == q.Stripe && d.Run == q.Run; same && (d.Recipe == q.Recipe || d.Recipe == "" && q.Recipe != inspect.Stripe && q.Recipe != inspect.Run) {
			return d.Delay
		}
	}
	return 0
}

// contender is the one that was chosen.
func (t *taking) contender() inspect.Contender { return t.queue.Contenders[t.at] }

// take deletes the node of the contender, and says so.
func (t *taking) take(ctx context.Context, client *framework.Client) error {
	c := t.contender()
	certain, err := deleteContender(ctx, client, c)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", t.path, quote.Brief(c.Node), err)
	}
	t.done.Taken = append(t.done.Taken, newQueueEntry(t.queue, t.at))
	if t.json {
		return nil
	}
	what := "taken away: "
	if c.State == inspect.Waiting {
		what = "removed from the queue: "
	}
	text := what + describe(t.queue, c)
	if !certain {
		text += " (or released at that moment: the answer was lost)"
	}
	_ = printLine(t.stdout, text) // it is done, printed or not
	if t.delay > 0 && c.State != inspect.Waiting {
		_ = printLine(t.stdout, fmt.Sprintf("the next client can have it after the lock-delay of %v", t.delay))
	}
	return nil
}

// confirm asks at the terminal. Only the token, or the name of the lock, means yes.
func (t *taking) confirm() error {
	c, name := t.contender(), path.Base(t.path)
	who, next := c.Holder.String(), "at once"
	if who == "" {
		who = "a client that says nothing about itself"
	}
	if t.delay > 0 {
		next = fmt.Sprintf("after the lock-delay of %v", t.delay)
	}
	for _, line := range []string{
		t.path + " is held by " + quote.Line(who),
		"  node " + quote.Line(c.Node),
		fmt.Sprintf("  %s, token %v, session %s", c.Kind, c.Token, hexSession(c.Session)),
		fmt.Sprintf("  in the queue since %s, for %s", c.Enqueued.UTC().Format(time.RFC3339), wholeSeconds(seconds(age(c.Enqueued)))),
		"",
		"If it is taken away, the next client can have it " + next + ".",
		"zkrecipes, and programs with its library, notice that at once, and stop. One",
		"that is paused or cut off works on until it notices, beside the next holder.",
		"Java's Curator and other clients do not notice it at all, and work on. Only who",
		"compares fencing tokens can refuse what they still send.",
		"",
	} {
		if err := printLine(t.stderr, line); err != nil {
			return err
		}
	}
	if _, err := t.stderr.WriteString(quote.Line(fmt.Sprintf("Type the token, or %s, to take it away: ", name))); err != nil {
		return err
	}
	answer, err := bufio.NewReader(t.stdin).ReadString('\n')
	if answer = strings.TrimRight(answer, "\r\n"); err != nil || answer != name && answer != c.Token.String() {
		return fmt.Errorf("%s: %w: it was not confirmed", t.path, errNotTaken)
	}
	return nil
}
