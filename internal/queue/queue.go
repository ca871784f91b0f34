package queue

import (
	"cmp"
	"context"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A Queue is the line of the contenders under one path. It has no state of its own,
// does not change, and is safe for concurrent use. The parent is not made before
// somebody joins.
type Queue struct {
	// Client is any client; a Place is in a session of its own choice.
	Client *framework.Client
	// Path is the parent of the contenders' nodes, not the root.
	Path string
	// Of is the path of the recipe for errors; "" if it is Path.
	Of string
	// Kind is the kind of node that is made to join.
	Kind string
	// Kinds are all kinds that contend.
	Kinds []string
	// Data returns what a node that is made now says about its holder.
	Data func() []byte
	// Rule decides who is admitted.
	Rule Rule
	// Recheck, if it is not nil, tells that the end of gone, which was waited for, is
	// no reason to admit self without another look at the line.
	Recheck func(self, gone znode.Name) bool
}

// Node returns the path of a node in line.
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

// Newcomer returns the name of a node behind all others.
func (q *Queue) Newcomer() znode.Name {
	name, _ := znode.Parse(q.Kind+"0000000000", q.Kinds...)
	return name
}

// explain has an error, if there is one, say what was done when it came up.
func (q *Queue) explain(doing string, err *error) {
	if *err != nil {
		*err = fmt.Errorf("%s of %s: %w", doing, quote.Path(q.Client.FullPath(cmp.Or(q.Of, q.Path))), *err)
	}
}
