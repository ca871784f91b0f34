package queue

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A Queue describes the queue of the contenders under one path. It has no state, and is
// safe for concurrent use. The first Join creates the parent.
type Queue struct {
	// Client is any client; a Position is given its session.
	Client *framework.Client
	// Path is the parent of the contenders' nodes. It is not the root.
	Path string
	// Of is the path of the recipe for errors; "" if it is Path.
	Of string
	// Kind is the kind of node that Join creates.
	Kind string
	// Kinds are all kinds that contend.
	Kinds []string
	// Data returns the data of a node that is created now, with the context of Join.
	Data func(ctx context.Context) []byte
	// Rule decides which contenders are admitted.
	Rule Rule
	// LockDelay is for how long a slot stays closed after an unclean end, see package
	// lockdelay; 0 is none. Then nothing is handed over: see package hold.
	LockDelay time.Duration
	// HandsOver reports whether the slot of a node, when it is released, may be handed
	// over within a session before the node is deleted: see view. Nil is never.
	HandsOver func(znode.Name) bool
	// Recheck, if it is not nil, reports that after the deletion of gone, which was
	// waited for, self must not be admitted without another listing.
	Recheck func(self, gone znode.Name) bool
}

// Node returns the path of a node of the queue.
func (q *Queue) Node(name string) string { return q.Path + "/" + name }

// Among returns the contenders in a listing, in order.
func (q *Queue) Among(children []string) []znode.Name {
	return znode.Contenders(children, q.Kinds...)
}

// Names lists the contenders, in order.
func (q *Queue) Names(ctx context.Context, c *framework.Client) ([]znode.Name, error) {
	children, _, err := znode.Children(ctx, c, q.Path)
	return q.Among(children), err
}

// Newcomer returns a name behind all others.
func (q *Queue) Newcomer() znode.Name {
	name, _ := znode.Parse(q.Kind+"0000000000", q.Kinds...)
	return name
}

// explain adds to an error, if there is one, what was being done.
func (q *Queue) explain(doing string, err *error) {
	if *err != nil {
		*err = fmt.Errorf("%s of %s: %w", doing, quote.Path(q.Client.FullPath(cmp.Or(q.Of, q.Path))), *err)
	}
}
