package leader

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// Forever as the timeout of Acquire leaves the bound of the wait to the context.
const Forever = lease.Forever

// An Election is the election of one path. It holds no state: any number of goroutines
// may use one value, and each Acquire or Lead is a candidate of its own. Make it with
// New: the methods of a nil or zero Election fail with framework.ErrInvalidArgument; ID
// panics.
type Election struct {
	recipe  acquire.Recipe
	path    string // for errors and the log
	id      string
	backoff retry.Policy
}

var _ lease.Acquirer = (*Election)(nil)

// New returns the election of a path. It sends nothing: the path is created, as a
// container where the server knows those, with the first campaign. The children of the
// path belong to the election. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidArgument.
func New(client *framework.Client, path string, opts ...Option) (*Election, error) {
	o := options{}
	for _, opt := range opts {
		opt(&o)
	}
	if o.backoff == (retry.Policy{}) {
		o.backoff = retry.Exponential(DefaultInitialBackoff, DefaultMaxBackoff)
	}
	at := recipepath.Intent{Client: client, Path: path, Package: "leader", What: "an election", Label: cmp.Or(o.id, o.who), Terms: o.terms}
	if err := at.Check(); err != nil {
		return nil, err
	}
	id := o.ownID()
	switch err := o.backoff.Validate(); {
	case !utf8.ValidString(id):
		return nil, at.Invalid("id %s is not UTF-8", quote.Excerpt([]byte(id)))
	case string(znode.Unmarked([]byte(id))) != id:
		return nil, at.Invalid("id %s ends like a request for revocation, or to step back", quote.Excerpt([]byte(id)))
	case err != nil:
		return nil, at.Invalid("backoff: %v", err)
	}
	q := &queue.Queue{
		Client: client, Path: path, Kind: znode.Latch, Kinds: []string{znode.Latch},
		Data: func(context.Context) []byte { return []byte(id) }, Rule: queue.Always(queue.Exclusive), HandsOver: everyTerm,
		LockDelay: o.terms.LockDelay,
	}
	return &Election{
		recipe: acquire.Recipe{
			Client: client, Path: path, Terms: o.terms, Kind: lease.KindLeader, Self: queue.Self(id), ProtectedNodes: recipepath.QueueNodes(path),
			Queue: q,
		},
		path: quote.Path(client.FullPath(path)), id: id, backoff: o.backoff,
	}, nil
}

// everyTerm may be handed over within a client: there is no other leader then.
func everyTerm(znode.Name) bool { return true }

// ownID is the text that the candidate's znodes store.
func (o options) ownID() string {
	if o.id != "" {
		return strings.Clone(o.id)
	}
	host, _ := os.Hostname() // unknown is as good as no name
	process := fmt.Sprintf("%s:%d", host, os.Getpid())
	if o.who != "" {
		return o.who + "@" + process
	}
	return process
}

// check fails unless New made the election.
func (e *Election) check() error {
	if e == nil || e.recipe.Queue == nil {
		return recipepath.NotMade("leader.Election")
	}
	return nil
}

// ID returns the id that others see of this candidate: see WithID.
func (e *Election) ID() string {
	if err := e.check(); err != nil {
		panic(err)
	}
	return e.id
}

// Acquire campaigns for up to timeout. The lease is the term: the caller leads until it
// is released or lost. A timeout of 0 or less acquires the term only if there is no
// leader now. See lease.Acquirer for everything that all recipes have in common, and
// Lead for term after term.
func (e *Election) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	return e.recipe.Acquire(ctx, timeout, acquire.InQueue(e.recipe.Queue))
}

// Leader returns the present leader: the head of the queue. ok is false if there are no
// candidates. A candidate that has just become the head may not know it yet, and one
// whose process has died is the leader until its session ends.
func (e *Election) Leader(ctx context.Context) (leader lease.Contender, ok bool, err error) {
	if err := e.check(); err != nil {
		return lease.Contender{}, false, err
	}
	return e.recipe.Queue.Head(ctx)
}

// Contenders lists the leader and, behind it, the other candidates, in order. The list
// is that of one moment during the call, without those who have left since.
func (e *Election) Contenders(ctx context.Context) ([]lease.Contender, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	return e.recipe.Queue.Contenders(ctx)
}
