package main

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// checkListen finds the mistakes in the flags of "elect --listen" that show without a
// server.
func (f *electFlags) checkListen() error {
	switch {
	case len(f.paths) == 0:
		return f.mistake("no election: give PATH, as in: zkrecipes elect --listen %s", examplePath("elect"))
	case len(f.command) > 0:
		return f.mistake("--listen takes no part, and runs no command")
	}
	return f.checkPaths("elect")
}

// listen prints the leader each time it changes, until a signal ends that.
func (p *program) listen(f *electFlags) error {
	ctx, stop := untilEnd()
	defer stop()
	cfg, chroot, err := f.config(p.auth)
	if err != nil {
		return err
	}
	client, err := connect(ctx, cfg, waitLimit{duration: f.timeout.value}.forConnect())
	if err != nil {
		return unlessOver(ctx, err)
	}
	defer client.Close()
	// The client has no chroot, because it would create that.
	election, err := leader.New(client, chroot+f.paths[0])
	if err != nil {
		return err
	}
	l := &listener{out: p.stdout, path: f.paths[0], json: f.json, client: client, election: election}
	return unlessOver(ctx, untilOver(ctx, flushLimit, l.run))
}

// untilOver runs what prints until its context ends. Then it waits no longer than a
// limit: what is printed may block, as on a terminal that was stopped with Ctrl-S, or
// in a pipe that nobody reads. So it is for what ends the process.
func untilOver(ctx context.Context, limit time.Duration, run func(context.Context) error) (err error) {
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(limit):
		}
	}
	return err
}

// untilEnd returns a context that INT and TERM end, unless they are ignored.
func untilEnd() (context.Context, context.CancelFunc) {
	ends := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM}, signal.Ignored)
	if len(ends) == 0 { // which would mean all signals
		return context.WithCancel(context.Background())
	}
	return signal.NotifyContext(context.Background(), ends...)
}

// unlessOver returns err, unless it comes from the end of the context.
func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = nil
	}
	return err
}

// A listener prints who leads an election. It takes no part, and writes nothing.
type listener struct {
	out      *os.File
	path     string // as given
	json     bool
	client   *framework.Client
	election *leader.Election

	mu    sync.Mutex         // guards what follows, and out
	again context.CancelFunc // has the leader read, and printed, again
}

// run returns when ctx ends, or when the leader cannot be observed any more.
//
// Behind each break of the connection the leader is observed anew: then it is printed
// again, as soon as it is known, although it may be the same.
func (l *listener) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var states sync.WaitGroup
	defer states.Wait()
	defer cancel()
	for begun := false; ctx.Err() == nil; {
		observed := l.anew(ctx)
		if !begun {
			begun = true
			states.Go(func() { l.printStates(ctx) })
		}
		for c, err := range l.election.Observe(observed) {
			if err == nil {
				err = l.print(describeLeader(c))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// anew returns the context of a new observation.
func (l *listener) anew(ctx context.Context) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, l.again = context.WithCancel(ctx)
	return ctx
}

// printStates says when what was printed may be stale, and when no more.
func (l *listener) printStates(ctx context.Context) {
	broken := false
	for change := range l.client.States(ctx) {
		switch {
		case (change.State == framework.Suspended || change.State == framework.Lost) && !broken:
			broken = true
			_ = l.print(leaderChange{Event: "suspended", Reason: reasonOf(change)}) // if it fails, so does the next leader
		case change.State == framework.Connected && broken:
			broken = false
			_ = l.print(leaderChange{Event: "connected"})
			l.mu.Lock()
			l.again()
			l.mu.Unlock()
		}
	}
}

// A leaderChange is one line of "elect --listen --json".
type leaderChange struct {
	Time     json.RawMessage `json:"time"`
	Event    string          `json:"event"`
	Election string          `json:"election"`
	Leader   *leaderJSON     `json:"leader"`
	Reason   string          `json:"reason"`
}

// A leaderJSON is who leads, as it describes itself, and its term.
type leaderJSON struct {
	ID      string      `json:"id"`
	Host    string      `json:"host"`
	PID     int         `json:"pid"`
	Since   time.Time   `json:"since"`
	Token   lease.Token `json:"token"`
	Session string      `json:"session"`
	Node    string      `json:"node"`

	text string
}

// describeLeader describes the one that was observed, a zero Contender if none leads.
func describeLeader(c lease.Contender) leaderChange {
	if c.Node == "" {
		return leaderChange{Event: "no leader"}
	}
	return leaderChange{Event: "leader", Leader: &leaderJSON{
		ID: c.Holder.Who, Host: c.Holder.Host, PID: c.Holder.PID, Since: c.Enqueued.UTC(), Token: c.Token,
		Session: hexSession(c.Session), Node: c.Node, text: describeHolder(c),
	}}
}

// String writes a change without its time.
func (c leaderChange) String() string {
	switch {
	case c.Leader != nil:
		return "leader " + c.Leader.text + ", token " + c.Leader.Token.String()
	case c.Event == "suspended":
		return because("connection broken", c.Reason) + "; the leader may change unseen"
	case c.Event == "connected":
		return "connected again"
	}
	return c.Event
}

// print writes a line.
func (l *listener) print(c leaderChange) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Time, c.Election = inMillis(time.Now()), l.path
	if !l.json {
		return printLine(l.out, strings.Trim(string(c.Time), `"`)+" "+c.String())
	}
	line, err := quote.JSON(c, "")
	if err != nil {
		return err
	}
	_, err = l.out.Write(append(line, '\n'))
	return err
}
