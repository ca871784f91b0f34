package queue

import (
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
)

// DetachedWatch returns the watch of a position whose wait has ended, and what delivers
// an event of it. Until a hold takes it, events go to a function.
func DetachedWatch(untaken func()) (watch hold.Watch, event func(framework.Event)) {
	n := &node{view: &view{closed: true}, watch: watched}
	n.inherit(func(framework.Event) { untaken() })
	return n, n.onEvent
}
