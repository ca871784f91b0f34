package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// errNotNext means that candidates have not stepped back yet.
var errNotNext = errors.New("no revocation was requested, because a candidate has not stepped back yet")

// A handOver makes a candidate lead after the present leader: "revoke --successor".
type handOver struct {
	*program
	*revokeFlags
	client   *framework.Client
	full     string // the path with the chroot
	election *leader.Election
	done     revocation
}

// handOver makes the successor the next leader, and requests the revocation of the
// present one. As JSON it prints what has been done even if that fails.
func (p *program) handOver(ctx context.Context, client *framework.Client, f *revokeFlags, full string) error {
	election, err := leader.New(client, full)
	if err != nil {
		return err
	}
	h := &handOver{
		program: p, revokeFlags: f, client: client, full: full, election: election,
		done: newRevocation(f.path),
	}
	again := true
	for again && err == nil {
		again, err = h.try(ctx)
	}
	if f.json {
		err = errors.Join(err, p.printJSON(h.done))
	}
	return err
}

// try does it once. again says that the queue has changed meanwhile: the leader or the
// successor has left.
func (h *handOver) try(ctx context.Context) (again bool, err error) {
	h.done.Successor = nil
	present, err := h.election.MakeNext(ctx, h.successor.value)
	if err != nil && !errors.Is(err, leader.ErrLeadsAlready) {
		return false, h.explain(ctx, err)
	}
	s, err := inspect.Path(ctx, h.client, h.full)
	if err != nil {
		return false, err
	}
	queue := electionOf(s)
	switch at := h.find(queue, present); {
	case at == 0:
		h.found(queue, at)
		h.say("leads already: " + describe(queue, queue.Contenders[at]))
		return false, nil
	case at != 1 || queue.Contenders[0].Path != present.Path:
		return true, nil
	}
	h.found(queue, 1)
	err = lease.RequestRevocation(ctx, h.client, present.Path)
	if errors.Is(err, framework.ErrNoNode) {
		return true, nil // it has resigned: the successor leads, unless it has left
	}
	if err == nil {
		h.done.Requested = append(h.done.Requested, newQueueEntry(queue, 0))
		h.say("revocation requested: " + describe(queue, queue.Contenders[0]))
	}
	h.say("leads next: " + describe(queue, queue.Contenders[1]))
	return false, err
}

// found records where the successor is.
func (h *handOver) found(queue inspect.Queue, at int) {
	entry := newQueueEntry(queue, at)
	h.done.Successor = &entry
}

// find returns the index of the candidate that MakeNext has made the next one, or that
// leads; -1 if it is not there any more. A leader can have the same id.
func (h *handOver) find(queue inspect.Queue, present lease.Contender) int {
	return slices.IndexFunc(queue.Contenders, func(c inspect.Contender) bool {
		return c.Holder.Who == h.successor.value && c.Path != present.Path
	})
}

// say prints a line, unless JSON is wanted. What it says is done, printed or not.
func (h *handOver) say(text string) {
	if !h.json {
		_ = printLine(h.stdout, text)
	}
}

// explain says why the successor is not the next leader.
func (h *handOver) explain(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, leader.ErrNoCandidate):
		return h.noCandidate(ctx)
	case errors.Is(err, leader.ErrStepsBack):
		return fmt.Errorf("%s: %w: %s itself, in favour of another successor", h.path, errNotNext, quote.Brief(h.successor.value))
	case ctx.Err() != nil:
		return h.tooLate(err)
	}
	return err
}

// noCandidate returns the error for an election without such a candidate, or for a path
// that is not that of an election.
func (h *handOver) noCandidate(ctx context.Context) error {
	s, err := inspect.Path(ctx, h.client, h.full)
	if err != nil {
		return err
	}
	if other := recipeInstead(s); other != "" {
		return usageErrorf("%s: --successor is for an election: this is the path of %s", h.path, other)
	}
	return fmt.Errorf("%s: %w: no candidate there has the id %q", h.path, errNoContender, h.successor.value)
}

// recipeInstead names what is at a path instead of an election, if there is something.
func recipeInstead(s *inspect.Survey) string {
	switch {
	case len(electionOf(s).Contenders) > 0:
		return ""
	case s.Stripes != nil:
		return "a lock with stripes"
	case s.Job != nil:
		return "a job"
	case s.Permits != nil:
		return "a semaphore"
	case len(s.Queues) > 0:
		return "a lock"
	}
	return ""
}

// electionOf returns the queue of an election, which may be empty.
func electionOf(s *inspect.Survey) inspect.Queue {
	for _, queue := range s.Queues {
		if queue.Recipe == inspect.Election {
			return queue
		}
	}
	return inspect.Queue{Recipe: inspect.Election}
}

// tooLate returns the error for a hand-over whose time is over. If the servers answer,
// it names those that are still between the leader and the successor.
func (h *handOver) tooLate(late error) error {
	ctx, cancel := context.WithTimeout(context.Background(), listLimit)
	defer cancel()
	queue, err := h.election.Contenders(ctx)
	if err != nil || len(queue) == 0 {
		return late
	}
	waiting := queue[1:]
	at := slices.IndexFunc(waiting, func(c lease.Contender) bool { return c.Holder.Who == h.successor.value })
	if at <= 0 {
		return late
	}
	return fmt.Errorf("%s: %w: %d ahead of %s, the first is %s", h.path, errNotNext, at, quote.Brief(h.successor.value), describeHolder(waiting[0]))
}
