package queue

import (
	"context"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A Dependency is something outside the queue that the wait of one position depends on,
// such as a stored number. The zero value is nothing.
type Dependency struct {
	// Watch reads it, with a watch; w is nil if there is nothing to watch. changed says
	// that it differs from what the last decision was based on. An error ends the wait.
	Watch func(ctx context.Context) (w *framework.Watch, changed bool, err error)
	// Changed reports, about once per session timeout and without a watch, whether it
	// has changed without an event. Nil if that does not matter.
	Changed func(ctx context.Context) bool

	watch *framework.Watch
}

// A change is the result of Dependency.Watch.
type change struct {
	yes bool
	err error
}

// begin calls Watch, if there is no watch, in another goroutine.
func (f *Dependency) begin(ctx context.Context) <-chan change {
	done := make(chan change, 1)
	if f.Watch == nil || f.watch != nil {
		done <- change{}
		return done
	}
	go func() {
		var c change
		f.watch, c.yes, c.err = f.Watch(ctx)
		done <- c
	}()
	return done
}

// Stands reports whether it is watched and no change is known: then the last result of
// Watch is valid.
func (f *Dependency) Stands() bool { return f.watch != nil && f.stands() }

// stands reports whether no change is known. A goroutine receives events that are ready
// together in any order, so a change has to be looked for before an older result admits
// a position.
func (f *Dependency) stands() bool {
	if f.watch == nil {
		return true
	}
	select {
	case <-f.watch.Events():
		f.watch = nil
		return false
	default:
		return true
	}
}
