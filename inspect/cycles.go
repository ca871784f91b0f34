package inspect

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A CycleSurvey is what Cycles found.
type CycleSurvey struct {
	// Cycles are those that are certain, and then the others, each kind with the oldest
	// first. Of contenders that wait for each other in several ways one cycle is shown.
	Cycles []Cycle
	// Locks is how many locks, semaphores and elections were in use: had a contender.
	Locks int
	// Unreadable are the paths that the client may not read, sorted. What is there, and
	// below, was left out.
	Unreadable []string
}

// A Cycle is some contenders each of which waits for the next one, and the last one for
// the first.
type Cycle struct {
	// Certain says that it is a deadlock: who waits has said that it releases what it
	// holds only after the wait. If it is false, the same process, or the same session,
	// holds the one and waits for the other, perhaps for different work.
	Certain bool
	// Since is when the youngest of the waits began, by the server's clock.
	Since time.Time
	// Links has one for each that waits. Each waits for the next one. The first one
	// holds.
	Links []Link
}

// A Link is one that holds a lock, which the link before waits for, and waits for
// another one.
type Link struct {
	// Holds is the path of the lock that it holds; that of one stripe, or of one run.
	Holds string
	// Held is the node by which it holds that. Its State is Held, or else it is that of
	// Waiting, and it holds nothing there: a reader behind a writer waits for that,
	// even if only readers hold the lock.
	Held Contender
	// WaitsFor is the path of the lock that it waits for. It is that which the next
	// link holds.
	WaitsFor string
	// Waiting is the node by which it waits there.
	Waiting Contender
}

// Cycles finds clients that wait for each other, so that none of them is ever granted
// what it waits for: among all locks, semaphores and elections below a path, and at it.
// See the package for how exact that is. That there is no node at the path is no error.
//
// Errors: those of Path, but the path may be "/", and what the client may not read is
// no error.
func Cycles(ctx context.Context, client *framework.Client, path string) (*CycleSurvey, error) {
	w := &walk{client: client, denied: new(denied)}
	if err := w.from(ctx, path); err != nil {
		return nil, err
	}
	found := &CycleSurvey{Locks: len(w.places)}
	l := looks{client, w.denied}
	first, err := l.look(ctx, w.contended())
	if err != nil {
		return nil, err
	}
	if again := stuckIn(client, first); len(again) > 0 {
		second, err := l.lookAgain(ctx, again)
		if err != nil {
			return nil, err
		}
		found.Cycles = cyclesIn(client, second)
	}
	found.Unreadable = w.denied.sorted()
	return found, nil
}
