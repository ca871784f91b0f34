package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An ancestor is a zkrecipes above this one in the process tree. It keeps its lock
// until its command has ended, and this process is part of that command: to wait for
// that lock here would be to wait for ourselves.
type ancestor struct {
	session int64
	pid     int
}

// String writes an ancestor for the environment.
func (a ancestor) String() string { return fmt.Sprintf("%s:%d", hexSession(a.session), a.pid) }

// ancestors returns those that the environment names, outermost first. The variable may
// be old, or hold anything: an entry counts only if its session is in the queue.
func (e environ) ancestors() (all []ancestor) {
	for entry := range strings.SplitSeq(e.get(envAncestors), ",") {
		session, pid, _ := strings.Cut(entry, ":")
		digits, isHex := strings.CutPrefix(session, "0x")
		id, err := strconv.ParseUint(digits, 16, 64)
		number, pidErr := strconv.Atoi(pid)
		if isHex && err == nil && pidErr == nil {
			all = append(all, ancestor{int64(id), number})
		}
	}
	return all
}

// ancestorsWith is the variable for a command of this process.
func (e environ) ancestorsWith(session int64) string {
	var all []string
	for _, a := range append(e.ancestors(), ancestor{session, os.Getpid()}) {
		all = append(all, a.String())
	}
	return strings.Join(all, ",")
}

// withinAncestors returns a context of which the node of an acquire says that the
// ancestors wait for its end, with all that they hold.
func (e environ) withinAncestors(ctx context.Context) context.Context {
	var sessions []int64
	for _, a := range e.ancestors() {
		sessions = append(sessions, a.session)
	}
	return queue.Within(ctx, sessions)
}

// checkAncestors refuses a wait for a lock that an ancestor holds. Without ancestors it
// asks no server.
//
// atOnce are the locks that an ancestor reads, and that we may read too, but only at
// once: a writer that comes between waits for the ancestor, and we would wait for the
// writer.
func (j *job) checkAncestors(ctx context.Context, w waitLimit) (atOnce []recipe, err error) {
	above := j.env.ancestors()
	if len(above) == 0 {
		return nil, nil
	}
	ctx, cancel := w.bound(ctx)
	defer cancel()
	for _, c := range j.recipe.queues() {
		queue, err := c.contenders(ctx)
		if err != nil {
			return nil, err
		}
		mayNotWait, err := j.checkQueue(listedQueue{c, queue}, above)
		if err != nil {
			return nil, err
		}
		if mayNotWait {
			atOnce = append(atOnce, c)
		}
	}
	return atOnce, nil
}

// checkQueue is checkAncestors for one queue.
func (j *job) checkQueue(q listedQueue, above []ancestor) (mayNotWait bool, err error) {
	var theirs []lease.Contender
	for _, c := range q.all {
		if slices.ContainsFunc(above, func(a ancestor) bool { return a.session == c.Session }) {
			theirs = append(theirs, c)
		}
	}
	switch {
	case len(theirs) == 0:
		return false, nil
	case q.mustWait(theirs):
		return false, j.selfWaitError(q.name(), theirs[0])
	case q.kind != lease.KindReader: // there are more permits than theirs
		return false, nil
	case q.mustWait(q.all):
		return false, j.selfWaitError(q.name(), theirs[0])
	}
	return true, nil
}

// acquireBeside acquires beside ancestors that read some of the locks.
func (j *job) acquireBeside(ctx context.Context, w waitLimit, atOnce []recipe) (heldLease, error) {
	now := w
	now.try = true
	acquired, err := j.contend(ctx, now)
	timeout := (*lease.TimeoutError)(nil)
	if !errors.As(err, &timeout) || noAnswer(err) {
		return acquired, err
	}
	isIt := func(c recipe) bool { return j.client.FullPath(c.path) == timeout.Path }
	others := j.recipe.parts
	at := slices.IndexFunc(others, isIt)
	switch {
	case at < 0 || slices.ContainsFunc(atOnce, isIt):
		return j.acquireAnnounced(ctx, w) // another client came between; list again
	case w.try:
		return nil, err
	}
	return j.acquireBehind(ctx, w, others[at])
}

// acquireBehind waits for the one lock that is not free, and takes all when it has that
// one: none of those that may not be waited for is held meanwhile.
func (j *job) acquireBehind(ctx context.Context, w waitLimit, one recipe) (heldLease, error) {
	first, err := j.reporting(ctx, w, func(ctx context.Context) (heldLease, error) { return one.acquire(ctx, w.left()) })
	if err != nil {
		return nil, err
	}
	now := w
	now.try = true
	all, err := j.contend(first.Context(), now) // which re-enters the one
	if err == nil {
		return &leaseBehind{all, first}, nil
	}
	_ = first.ReleaseAsync()
	if errors.Is(err, lease.ErrTimeout) && !noAnswer(err) && !w.isOver() {
		return j.acquireAnnounced(ctx, w)
	}
	return nil, err
}

// A leaseBehind is a lease that was acquired with the context of another one.
type leaseBehind struct {
	heldLease
	first heldLease
}

// Release releases both.
func (l *leaseBehind) Release() error { return cmp.Or(l.heldLease.Release(), l.first.Release()) }

// ReleaseAsync releases both without waiting.
func (l *leaseBehind) ReleaseAsync() error {
	return cmp.Or(l.heldLease.ReleaseAsync(), l.first.ReleaseAsync())
}

// selfWaitError is the refusal: a usage error, because no waiting would help.
func (j *job) selfWaitError(name string, holder lease.Contender) error {
	verb, who := "run", holder.Holder.Who
	if holder.Kind == lease.KindLeader {
		verb = "elect"
	}
	for _, a := range j.env.ancestors() {
		if a.session == holder.Session {
			who = strings.TrimPrefix(fmt.Sprintf("%s, pid %d", who, a.pid), ", ")
		}
	}
	return usageErrorf("%s is held by the zkrecipes %s above this one (%s), which waits for this command to end: this one would wait for itself",
		name, verb, who)
}
