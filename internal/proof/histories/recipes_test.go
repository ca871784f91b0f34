package histories

import (
	"context"
	"errors"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A subject is a recipe under test.
type subject struct {
	name  string
	model func(size int) porcupine.Model
	size  int // of a semaphore
	// prepare runs first, with its own client. It may be nil.
	prepare func(ctx context.Context, c *framework.Client, s Scenario) error
	// open returns the recipe for a step of a thread.
	open func(c *framework.Client, th *thread) player
	// choose fills in what a random step does. outer is the step around it, or nil.
	choose func(d die, st *Step, outer *Step)
	// nests tells whether steps may contain steps.
	nests bool
	// queues are the nodes whose children contend, by what follows the path; "" is the
	// path.
	queues []string
	// names are the kinds of these children.
	names []string
	// blocked tells whether a contender must not be granted because of those ahead of
	// it in its queue. It may be nil.
	blocked func(s Scenario, ahead []znode.Name, own znode.Name) bool
	// excludes tells whether two slots of a lock may not be valid at the same time, if
	// they do not share one slot. nil is for a recipe of several slots.
	excludes func(a, b *slot) bool
	// counted are the locks of which a lease has permits, which it does not re-enter.
	counted []int
	// verifies is set if a request follows the admission.
	verifies bool
	// watch is called for each call to the server. It may be nil.
	watch func(r *run, c zktest.Call)
	// allowed tells whether an acquire may fail with an error of this recipe.
	allowed func(s Scenario, outer *tenure, st Step, err error) bool
}

// contenders returns the paths of the nodes of all holders and waiters.
func (r *run) contenders() []string {
	var found []string
	for _, line := range r.subject.queues {
		for _, child := range r.server.Children(path + line) {
			if _, ok := znode.Parse(child, r.subject.names...); ok {
				found = append(found, path+line+"/"+child)
			}
		}
	}
	return found
}

// always is for recipes of which each slot excludes every other.
func always(_, _ *slot) bool { return true }

// unlessBothRead is for a read-write lock, and blockedReader for its contenders.
func unlessBothRead(a, b *slot) bool { return a.side == write || b.side == write }

func blockedReader(_ Scenario, ahead []znode.Name, own znode.Name) bool {
	return slices.ContainsFunc(ahead, func(n znode.Name) bool { return own.Kind != znode.Reader || n.Kind != znode.Reader })
}

// A player is a recipe, as a thread uses it.
type player interface {
	acquire(ctx context.Context, st Step) (*lease.Lease, error)
	// other does steps other than to acquire.
	other(ctx context.Context, th *thread, st Step)
}

// plain is a recipe with one or more sides to acquire.
type plain map[string]lease.Acquirer

func (p plain) acquire(ctx context.Context, st Step) (*lease.Lease, error) {
	return p[st.Side].Acquire(ctx, st.Wait)
}

// A partial player says on which of several locks a lease is.
type partial interface {
	player
	// slots are those of a lease that was granted just now, in the order of its tokens.
	// It is called with nil if none was granted.
	slots(l *lease.Lease, st Step) []*slot
}

func (plain) other(context.Context, *thread, Step) {}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// subjects are all recipes, by name.
var subjects = map[string]*subject{
	"mutex": {
		name: "mutex", model: exclusiveModel, nests: true, queues: []string{""}, names: znode.Locks,
		open: func(c *framework.Client, th *thread) player {
			return plain{"": must(mutex.New(c, path, mutex.WithMaxHold(th.scenario.MaxHold), mutex.WithMinHold(th.scenario.MinHold), mutex.WithLockDelay(th.scenario.Delay)))}
		},
		excludes: always,
		choose:   func(die, *Step, *Step) {},
		blocked:  func(_ Scenario, ahead []znode.Name, _ znode.Name) bool { return len(ahead) > 0 },
	},
	"rwlock": {
		name: "rwlock", model: sharedModel, nests: true, queues: []string{""}, names: znode.Locks,
		open: func(c *framework.Client, th *thread) player {
			l := must(rwlock.New(c, path, rwlock.WithMaxHold(th.scenario.MaxHold), rwlock.WithMinHold(th.scenario.MinHold), rwlock.WithLockDelay(th.scenario.Delay)))
			return plain{read: l.Read(), write: l.Write()}
		},
		excludes: unlessBothRead,
		choose: func(d die, st, outer *Step) {
			writes := 45
			switch {
			case outer != nil && outer.Side == write:
				writes = 25
			case outer != nil:
				writes = 15
			}
			st.Side = read
			if d.chance(writes) {
				st.Side = write
			}
		},
		blocked: blockedReader,
		allowed: func(_ Scenario, outer *tenure, st Step, err error) bool {
			return errors.Is(err, rwlock.ErrUpgrade) && outer != nil && outer.op.Side == read && st.Side == write
		},
	},
	"semaphore":       countedSubject("semaphore"),
	"single queue":    countedSubject("single queue", semaphore.WithSingleQueue()),
	"leader":          leaderSubject(),
	"next leader":     nextSubject(),
	"multi-lock":      severalSubject(),
	"mixed locks":     mixedSubject(),
	"stripes":         stripedSubject(),
	"resized stripes": resizedSubject(),
}
