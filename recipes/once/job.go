package once

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/records"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// MaxRecords is the number of records from which on a job takes no more.
const MaxRecords = records.Max

// The errors of this package, for errors.Is.
var (
	// ErrRecorded means that a run is recorded as finished. The text says by whom.
	ErrRecorded = errors.New("the run is recorded as finished")
	// ErrForgotten means that a tick is older than the records that are kept, so that
	// nobody knows whether it was run. It is never recorded any more.
	ErrForgotten = records.ErrForgotten
	// ErrTooManyRecords means that there are MaxRecords that are not older than the
	// retention, or are not removed yet.
	ErrTooManyRecords = records.ErrTooMany
)

// A Job is the work of one path, of which each run is done once. It holds no state: any
// number of goroutines may use one value. Make it with New: the methods of a nil or
// zero Job fail with framework.ErrInvalidArgument, or panic with it if they return no
// error.
type Job struct {
	recipe  acquire.Recipe // of its runs
	records records.Records
}

// New returns the job of a path. It sends nothing: what is needed is created when a run
// is first acquired. The children of the path belong to the job. Errors:
// framework.ErrInvalidPath, framework.ErrInvalidArgument.
func New(client *framework.Client, path string, opts ...Option) (*Job, error) {
	o := options{retention: DefaultRetention}
	for _, opt := range opts {
		opt(&o)
	}
	at := recipepath.Intent{Client: client, Path: path, Package: "once", What: "a job", Label: o.who, Terms: o.terms}
	if err := at.Check(); err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, "/"+znode.RecordsDir) { // its runs would be records of the job above
		return nil, fmt.Errorf("once: %w \"%s\": a job keeps its records below a node called %s: choose another name",
			framework.ErrInvalidPath, quote.Path(path), znode.RecordsDir)
	}
	if o.retention < minRetention {
		return nil, at.Invalid("a retention of %v, the least is %v", o.retention, minRetention)
	}
	self := queue.Self(o.who)
	return &Job{
		acquire.Recipe{Client: client, Of: path, Terms: o.terms, Kind: lease.KindMutex, Variant: variant, Self: self},
		records.Records{Client: client, Path: path + "/" + znode.RecordsDir, Retention: o.retention},
	}, nil
}

// variant distinguishes the lock of a run from a mutex at its path, whose owner does
// not know whether the run is recorded. Stripes have smaller numbers.
const variant = 1 << 15

// check fails unless New made the job.
func (j *Job) check() error {
	if j == nil || j.recipe.Client == nil {
		return recipepath.NotMade("once.Job")
	}
	return nil
}

// Do runs fn for a key unless that is recorded, and records it when fn has returned
// nil; it is Key(key).Do.
func (j *Job) Do(ctx context.Context, key string, fn func(ctx context.Context, held *lease.Lease) error) error {
	if err := j.check(); err != nil {
		return err
	}
	return j.Key(key).Do(ctx, fn)
}

// Key returns the run of a key, which may be any text of up to 1024 bytes.
func (j *Job) Key(key string) *Run { return j.run(key, records.Name{Node: znode.KeyName(key)}) }

// Tick returns the run of a tick: of the moment for which the job is scheduled, the
// same on all machines, not of the moment at which it happens to begin. The zero time
// is no tick.
func (j *Job) Tick(at time.Time) *Run {
	return j.run(znode.FormatTick(at), records.Name{Node: znode.TickName(at), Tick: at})
}

func (j *Job) run(key string, name records.Name) *Run {
	if err := j.check(); err != nil {
		panic(err)
	}
	r := &Run{job: j, key: key, name: name, recipe: j.recipe}
	r.recipe.Path = r.recipe.Of + "/" + name.Node
	r.recipe.ProtectedNodes = append(recipepath.QueueNodes(r.recipe.Of), recipepath.QueueNodes(r.recipe.Path)...)
	r.queue = locks.Queue(r.recipe.Client, r.recipe.Path, znode.Mutex, r.recipe.Self, r.recipe.Terms.LockDelay)
	return r
}
