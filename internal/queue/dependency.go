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
	// has changed without an event. Nil if the rule does not depend on it.
	Changed func(ctx context.Context) bool

	watch *framework.Watch
}

// begin calls Watch, if there is no watch.
func (f *Dependency) begin(ctx context.Context) (changed bool, err error) {
	if f.Watch == nil || f.watch != nil {
		return false, nil
	}
	f.watch, changed, err = f.Watch(ctx)
	return changed, err
}

// events returns the channel of the watch, nil without one.
func (f *Dependency) events() <-chan framework.Event {
	if f.watch == nil {
		return nil
	}
	return f.watch.Events()
}

// Events has it watched, and returns the channel of the watch, nil without one. changed
// is that of Watch. Whoever receives the event has to call Fired.
func (f *Dependency) Events(ctx context.Context) (events <-chan framework.Event, changed bool, err error) {
	changed, err = f.begin(ctx)
	return f.events(), changed, err
}

// Fired is called when the event has been received.
func (f *Dependency) Fired() { f.watch = nil }

// Stands reports whether it is watched and no change is known: then the last result of
// Watch is valid.
func (f *Dependency) Stands() bool { return f.watch != nil && f.stands() }

// decides reports whether a decision may admit that was made by what the rule has
// returned. A rule that depends on it must be as new as what is known of the queue:
// nothing was learned since the rule was called, or no change is known. The latter is
// looked for after the decision.
func (f *Dependency) decides(newest bool) bool {
	if f.watch != nil {
		return f.stands()
	}
	return f.Changed == nil || newest
}

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
