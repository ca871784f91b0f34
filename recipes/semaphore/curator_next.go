package semaphore

import (
	"context"
	"path"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
)

// A look is what the head of the queue makes for the next one, if that is of the same
// session: a listing of the permits, which is sent directly behind the transaction
// of the head. So the next one needs no round trip of its own to see them, and one
// transaction follows another.
type look struct {
	head   snapshot      // that of the head: the size is the same, or the next transaction fails
	full   bool          // there will be no capacity
	lists  bool          // the permits are listed
	known  chan struct{} // closed when the transaction was answered
	made   string        // the first permit that it has made; "" if it has failed
	listed chan struct{} // closed when the listing was answered
	found  []string      // what that shows
}

// passOn passes a look on to the next one in the queue. It is nil if that is of another
// session. If it has joined since the size was read, it has to look for other recipes
// itself: see package recipepath. behind is to be called behind the transaction.
func (a *admission) passOn(now snapshot) (l *look, behind func()) {
	full := len(now.holders)+a.n >= now.size
	pass := func(joined bool) any {
		lists := joined && !full && now.record.stat.NumChildren <= ownChildren
		l = &look{head: now, full: full, lists: lists, known: make(chan struct{}), listed: make(chan struct{})}
		return l
	}
	if !a.position.PassOn(now.sized, pass) || !l.lists {
		return l, nil
	}
	begun := false
	return l, func() {
		if begun { // the first attempt was not answered, or was refused
			return
		}
		begun = true
		done := func(children []string, _ error) {
			l.found = children
			close(l.listed)
		}
		if !kit.Of(a.try.Client).SendChildren(a.s.permitsPath(), done) {
			done(nil, nil)
		}
	}
}

// taken records what the transaction has made.
func (l *look) taken(made []framework.Created) {
	if l == nil {
		return
	}
	if len(made) > 0 {
		l.made = path.Base(made[0].Path)
	}
	close(l.known)
}

// passed gets the snapshot that the head before has passed on, once. It counts if the
// transaction of that one has succeeded, and the listing shows it: see curatorTaker.
func (a *admission) passed(ctx context.Context, now *snapshot) bool {
	l, _ := a.position.TakePassed().(*look)
	if l == nil {
		return false
	}
	a.full = l.full
	if !l.lists || !l.await(ctx) || !slices.Contains(l.found, l.made) {
		return false
	}
	r := l.head.record
	r.watch = nil // that of the head
	size, err := a.s.agree(r)
	if r.size = size; err == nil {
		*now = snapshot{made: true, holders: a.s.holders.Among(l.found), sized: l.head.sized, record: r}
	}
	return err == nil
}

// await waits for the answers. It reports false if the transaction has failed.
func (l *look) await(ctx context.Context) bool {
	for _, answered := range []chan struct{}{l.known, l.listed} {
		select {
		case <-answered:
		case <-ctx.Done():
			return false
		}
		if l.made == "" {
			return false
		}
	}
	return true
}
