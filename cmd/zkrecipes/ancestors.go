package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

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

// checkAncestors refuses a wait for a lock that an ancestor holds. Without ancestors it
// asks no server.
//
// mayNotWait means that an ancestor reads, and that we may read too, but only at once:
// a writer that comes between waits for the ancestor, and we would wait for the writer.
func (j *job) checkAncestors(ctx context.Context, w waitLimit) (mayNotWait bool, err error) {
	above := j.env.ancestors()
	if len(above) == 0 {
		return false, nil
	}
	ctx, cancel := w.bound(ctx)
	defer cancel()
	queue, err := j.recipe.contenders(ctx)
	if err != nil {
		return false, err
	}
	var theirs []lease.Contender
	for _, c := range queue {
		if slices.ContainsFunc(above, func(a ancestor) bool { return a.session == c.Session }) {
			theirs = append(theirs, c)
		}
	}
	switch {
	case len(theirs) == 0:
		return false, nil
	case j.recipe.mustWait(theirs):
		return false, j.selfWaitError(theirs[0])
	case j.recipe.kind != lease.KindReader: // there are more permits than theirs
		return false, nil
	case j.recipe.mustWait(queue):
		return false, j.selfWaitError(theirs[0])
	}
	return true, nil
}

// selfWaitError is the refusal: a usage error, because no waiting would help.
func (j *job) selfWaitError(holder lease.Contender) error {
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
		j.path, verb, who)
}
