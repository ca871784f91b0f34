package lockdelay

import (
	"context"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Endings are the unclean ends that one acquire has seen. The zero value is none. It is
// for one goroutine.
type Endings struct {
	seen map[string]*ending // by the paths of the records
	// Closed says why the slot that was last tried is closed; nil if it is not.
	Closed *ClosedError
}

// An ending is the end of a holder without a release.
type ending struct {
	node, record string // their paths
	holder       lease.Holder
	seen         time.Time // when it was first seen; zero if the holder lives
	isOld        bool      // it was marked long before the position's node was made
	err          error     // it could not be found out
}

// see remembers an end.
func (e *Endings) see(end *ending) {
	if e.seen == nil {
		e.seen = map[string]*ending{}
	}
	e.seen[end.record] = end
}

// Await waits until a position is admitted, see its AwaitAdmitted, until the delay
// after each unclean end that keeps it out has passed, and until it is recorded. With
// atOnce it does not wait for a delay: it returns a queue.ErrNotFree. After an error it
// can be called again, or the position has to leave.
func (e *Endings) Await(ctx context.Context, p *queue.Position, also *queue.Dependency, atOnce bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // of the watches
	if also == nil {
		also = new(queue.Dependency)
	}
	p.KeepAdmission()
	a := newAttempt(e, p)
	for watches := false; ; { // a slot that is not closed needs no watch
		if err := p.AwaitAdmitted(ctx, also, atOnce); err != nil {
			return err
		}
		result, err := a.record(ctx, watches)
		switch {
		case err != nil, result == recorded:
			return err
		case result == again:
		case atOnce:
			return fmt.Errorf("%w: %w", queue.ErrNotFree, e.Closed)
		case watches:
			if err := a.await(ctx, also); err != nil {
				return err
			}
		default:
			watches = true
		}
	}
}

// await waits until the slot may be open, or what the position depends on has changed.
func (a *attempt) await(ctx context.Context, also *queue.Dependency) error {
	events, changed, err := also.Events(ctx)
	if changed || err != nil {
		return err
	}
	timer := time.NewTimer(time.Until(a.until))
	defer timer.Stop()
	session := a.client.Session()
	select {
	case <-timer.C:
		return nil
	case <-a.watch.Events():
		return nil
	case <-events:
		also.Fired()
		return nil
	case <-session.Done():
		return session.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
