package inspect

import (
	"context"
	"errors"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
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

// A Queue has all contenders of one recipe.
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
	at := recipepath.Intent{Client: client, Path: path, Package: "inspect", What: "a recipe"}
	if err := at.Check(); err != nil {
		return nil, err
	}
	s := &Survey{}
	if err := s.take(ctx, client, path); err != nil {
		return nil, err
	}
	return s, nil
}

// take looks for all that there can be. Each listing waits until the server has caught
// up with the leader.
func (s *Survey) take(ctx context.Context, client *framework.Client, path string) error {
	locks, err := mutex.New(client, path) // lists readers and writers as well
	if err != nil {
		return err
	}
	election, err := leader.New(client, path)
	if err != nil {
		return err
	}
	found, err := locks.Contenders(ctx)
	if err != nil {
		return err
	}
	s.add(queueOf(Lock, found))
	if found, err = election.Contenders(ctx); err != nil {
		return err
	}
	s.add(queueOf(Election, found))
	children, stat, err := client.Children(ctx, path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		return err
	}
	s.Exists = err == nil
	if err := s.addLockDelay(ctx, client, path, children); err != nil {
		return err
	}
	if err := s.addSemaphores(ctx, client, path, children); err != nil {
		return err
	}
	if err := s.addStripes(ctx, client, path, children, stat); err != nil {
		return err
	}
	if err := s.addJob(ctx, client, path, children); err != nil {
		return err
	}
	s.Others = slices.DeleteFunc(children, s.knows)
	slices.Sort(s.Others)
	return nil
}

func queueOf(recipe Recipe, found []lease.Contender) Queue {
	q := Queue{Recipe: recipe, Contenders: make([]Contender, len(found))}
	for i, c := range found {
		q.Contenders[i] = Contender{Contender: c, State: Waiting}
		if c.Holding {
			q.Contenders[i].State = Held
		}
	}
	return q
}

func (s *Survey) add(q Queue) {
	if len(q.Contenders) > 0 {
		s.Queues = append(s.Queues, q)
	}
}

// knows reports whether a child is a contender, also one that came after the queues
// were listed, or a part of the semaphore, of the stripes or of the job, or the
// lock-delay.
func (s *Survey) knows(child string) bool {
	if s.Permits != nil && (child == znode.QueueDir || child == znode.PermitsDir) {
		return true
	}
	if child == znode.LockDelayDir {
		return s.delayOf() != nil
	}
	if _, ok := znode.ParseStripeDir(child); ok {
		return true
	}
	if _, _, ok := znode.ParseRun(child); s.Job != nil && (ok || child == znode.RecordsDir) {
		return true
	}
	_, contends := znode.Parse(child, atThePath...)
	return contends
}
