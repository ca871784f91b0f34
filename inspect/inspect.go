package inspect

import (
	"context"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Survey is what Path found.
type Survey struct {
	// Exists says whether there is a node at the path. Servers remove one that is not
	// used any more.
	Exists bool
	// Queues are those that are not empty. Usually there is one, or one for each stripe
	// or run in use, in their order. The recipes of this module refuse a path that
	// another recipe uses. Other clients may not: then there are several queues, which
	// do not exclude each other.
	Queues []Queue
	// Permits is nil if the path is not a semaphore's.
	Permits *Permits
	// Stripes is nil if the path is not that of stripes.
	Stripes *Stripes
	// Job is nil if the path is not that of a job.
	Job *Job
	// LockDelays are the lock-delays that are stored: that of the path, or those of its
	// stripes or runs, in their order, also of queues that are empty.
	LockDelays []LockDelay
	// Others are the names of the children that belong to none of these, sorted.
	Others []string
}

// A Recipe says what a queue is for.
type Recipe string

// The recipes that have queues.
const (
	// Lock is a mutex or a read-write lock, which share one queue.
	Lock Recipe = "lock"
	// Election is a leader election.
	Election Recipe = "election"
	// Semaphore is a semaphore, in either layout.
	Semaphore Recipe = "semaphore"
	// Stripe is one of the stripes at the path. Each has a queue of its own, which is
	// that of a lock.
	Stripe Recipe = "stripe"
	// Run is one of the runs of the job at the path, which is under way. Each has a
	// queue of its own, which is that of a lock.
	Run Recipe = "run"
)

// A Queue has the contenders of one recipe.
type Queue struct {
	// Recipe is what the queue is for.
	Recipe Recipe
	// Stripe is the number of the stripe, from 0 on, if the recipe is Stripe.
	Stripe int
	// Run is the key of the run, or its tick as a text in RFC 3339, if the recipe is
	// Run. Of a key that is too long for a name it is that of the znode, a hash.
	Run string
	// Contenders are in the order of the queue: first those that hold.
	Contenders []Contender
	// LeftOut is how many contenders of each state were listed but not read: see Heads.
	// It is nil after Path.
	LeftOut map[State]int
}

// A State says whether a contender holds.
type State string

// The states of a contender.
const (
	// Held means that it holds, or is admitted and does not know it yet.
	Held State = "held"
	// Waiting means that it does not hold.
	Waiting State = "waiting"
	// Unknown means that it is in the single queue of a semaphore whose size is not
	// stored.
	Unknown State = "unknown"
)

// A Contender is one node in a queue.
type Contender struct {
	lease.Contender
	// State is Held if Holding is true. If not, it is Waiting or Unknown.
	State State
}

// Path surveys the path of a recipe. That it does not exist, or has no contenders, is
// no error.
//
// Errors: framework.ErrInvalidPath for "/", for paths named like the node of a
// contender, and for the node that stores a lock-delay; framework.ErrInvalidArgument
// for a nil client; and those of the framework, such as framework.ErrNoAuth. On failure
// there is no Survey, not even of a part.
func Path(ctx context.Context, client *framework.Client, path string) (*Survey, error) {
	return take(ctx, client, path, everyone)
}

// Heads is Path for queues that may be long. It reads the first n contenders that hold,
// and the first n that do not, of all queues together, in their order. The others are
// only counted, in Queue.LeftOut, by their names. With 0 it reads none. All numbers and
// states are those that Path would return, but others that leave during the call count.
//
// Errors: those of Path, and framework.ErrInvalidArgument if n is negative.
func Heads(ctx context.Context, client *framework.Client, path string, n int) (*Survey, error) {
	if n < 0 {
		return nil, fmt.Errorf("inspect: %w: the first %d contenders: give 0 or more", framework.ErrInvalidArgument, n)
	}
	return take(ctx, client, path, n)
}

// take surveys the path, and reads the first n contenders.
func take(ctx context.Context, client *framework.Client, path string, n int) (*Survey, error) {
	at := recipepath.Intent{Client: client, Path: path, Package: "inspect", What: "a recipe"}
	if err := at.Check(); err != nil {
		return nil, err
	}
	s := &survey{client: client, path: path}
	if err := s.take(ctx, n); err != nil {
		return nil, err
	}
	return &s.Survey, nil
}
