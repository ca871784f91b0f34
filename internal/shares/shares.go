// Package shares acquires any of several slots that have a queue each: it decides which
// queue a call joins, and has calls that wait find a better one.
package shares

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Slot is one of them.
type Slot struct {
	// Recipe describes it.
	Recipe *acquire.Recipe
	// Queue is the one whose admitted positions are the slot.
	Queue *queue.Queue
}

// Shares are all of them. It is safe for concurrent use.
type Shares struct {
	path   string // of all, for syncs
	slots  []Slot
	known  known
	search search
}

// New returns those of a path.
func New(path string, slots []Slot) *Shares {
	return &Shares{path: path, slots: slots, known: known{all: make([]share, len(slots))}}
}

// Enter re-enters the first share that ctx owns, and returns which. It returns no
// lease, and no error, if there is none.
func (s *Shares) Enter(ctx context.Context, timeout time.Duration) (*lease.Lease, int, error) {
	if !hold.Owns(ctx) {
		return nil, 0, nil
	}
	for i, slot := range s.slots {
		if held, err := slot.Recipe.Enter(ctx, timeout); held != nil || err != nil {
			return held, i, err
		}
	}
	return nil, 0, nil
}

// Take is a taker that acquires any share, and also returns which.
func (s *Shares) Take(ctx context.Context, t *acquire.Try) (*lease.Lease, int, error) {
	c := call{s, t}
	if t.AtOnce {
		return c.atOnce(ctx)
	}
	return c.wait(ctx)
}
