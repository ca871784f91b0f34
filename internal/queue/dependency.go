package queue

import (
	"context"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A Dependency is something beside the line that the wait of one place depends on, such
// as a number that is stored somewhere. The zero value is nothing.
type Dependency struct {
	// Watch finds out what it is, with a watch, nil if there is nothing to watch.
	// changed tells that it is not what the last decision was made by. Its error ends
	// the wait.
	Watch func(ctx context.Context) (w *framework.Watch, changed bool, err error)
	// Changed finds out about once per session timeout, without a watch, whether it has
	// changed unseen. Nil if that need not be known.
	Changed func(ctx context.Context) bool

	watch *framework.Watch
}

// A change is the answer of Dependency.Watch.
type change struct {
	yes bool
	err error
}

// begin asks with a watch, if there is none, beside whatever the caller does meanwhile.
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

// Stands reports whether it is watched, and nothing is known of a change: then what
// Watch found out last holds.
func (f *Dependency) Stands() bool { return f.watch != nil && f.stands() }

// stands reports whether nothing is known of a change. Whoever is woken by several
// events at once sees them in any order, so a change has to be looked for before what
// was known admits anybody.
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
