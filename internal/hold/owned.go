package hold

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/internal/owner"
)

// Owned yields the holds that a context owns and that last, each once, the innermost
// first, without those that are tentative for it.
func Owned(ctx context.Context) iter.Seq[*Hold] {
	return func(yield func(*Hold) bool) {
		var seen []*Hold
		trying := TentativeOf(ctx)
		for handle := range owner.Claims[*Handle](ctx) {
			h := handle.hold
			if slices.Contains(seen, h) || trying.IsWithin(TentativeOf(handle.outer)) || !handle.isOpen() || h.Loss() != nil {
				continue
			}
			if seen = append(seen, h); !yield(h) {
				return
			}
		}
	}
}

// FullPath returns the znode of the slot with chroot and namespace.
func (h *Hold) FullPath() string { return h.client.FullPath(h.Path()) }

// IsGrantHeld reports whether the lease of the grant is neither released nor lost. A
// release is known before observers are notified of its end.
func (h *Hold) IsGrantHeld() bool { return h.first.isOpen() && h.Loss() == nil }

type followKey struct{}

// A following is one call of Following.
type following struct {
	follow func(*Hold)
	before *following // the one before, perhaps for a hold further out
}

// Following returns a context for an observer to return when a hold starts: then follow
// is called with the hold. Several observers may do so.
func Following(ctx context.Context, follow func(*Hold)) context.Context {
	return context.WithValue(ctx, followKey{}, &following{follow, followingOf(ctx)})
}

func followingOf(ctx context.Context) *following {
	f, _ := ctx.Value(followKey{}).(*following)
	return f
}

// A Tentative stands for an acquire of several slots that gives up those it has rather
// than wait for another one for long. So what it has keeps nobody out for ever.
type Tentative struct {
	outer         *Tentative // nil if it is not a part of another one
	over, limited atomic.Bool
}

type tentativeKey struct{}

// Tentatively returns a context for such an acquire, and a function to call when it has
// all slots, or none. What is acquired with the context before that is tentative.
func Tentatively(ctx context.Context) (_ context.Context, over func()) {
	t := &Tentative{outer: TentativeOf(ctx)}
	return context.WithValue(ctx, tentativeKey{}, t), func() { t.over.Store(true) }
}

// Limit says that it has some slots by now: it waits for further ones for a limited
// time only, and then leaves their queues. A nil one has no limit.
func (t *Tentative) Limit() {
	if t != nil {
		t.limited.Store(true)
	}
}

// GivesUp reports whether a context is for a wait that will end without the slot after
// a limited time, which the one who acquires has not asked for.
func GivesUp(ctx context.Context) bool {
	for t := TentativeOf(ctx); t != nil; t = t.outer.last() {
		if t.limited.Load() {
			return true
		}
	}
	return false
}

// TentativeOf returns the acquire of several slots that a context is for, nil if there
// is none, or none any more. Of those within each other it is the innermost.
func TentativeOf(ctx context.Context) *Tentative {
	t, _ := ctx.Value(tentativeKey{}).(*Tentative)
	return t.last()
}

// last returns the innermost that is not over: it, or one around it.
func (t *Tentative) last() *Tentative {
	for t != nil && t.over.Load() {
		t = t.outer
	}
	return t
}

// IsWithin reports whether it is another one, or a part of that.
func (t *Tentative) IsWithin(outer *Tentative) bool {
	for ; t != nil; t = t.outer {
		if t == outer {
			return true
		}
	}
	return false
}
