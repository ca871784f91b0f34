// Package records keeps records below one node: of what is finished, each name once.
// They are made under a check, such as that of a lease, and removed after a time.
package records

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Max is the number of records from which on no more are taken. Their names fit into
// one answer of a server.
const Max = 100_000

// The errors of this package, for errors.Is.
var (
	ErrForgotten = errors.New("the tick is older than the records that are kept")
	ErrTooMany   = errors.New("the job has too many records: choose a shorter retention, or more than one path")
)

// Records are those below one node. They have no state, and are safe for concurrent
// use.
type Records struct {
	// Client is any client.
	Client *framework.Client
	// Path is the node. It is created for the first record, and stays.
	Path string
	// Retention is how long a record is kept.
	Retention time.Duration
}

// A Name is that of a record.
type Name struct {
	// Node is the name of its node: see znode.ParseRun.
	Node string
	// Tick is the one that it is for, zero if it is for a key.
	Tick time.Time
}

// PathOf returns the path of a record.
func (r *Records) PathOf(n Name) string { return r.Path + "/" + n.Node }

// A parent is what the node above the records says.
type parent struct {
	exists bool
	data   []byte
	swept  time.Time // up to which moment records were removed, as the data say
	stat   framework.Stat
}

// parent reads the node above the records.
func (r *Records) parent(ctx context.Context, c *framework.Client) (parent, error) {
	data, stat, err := c.Get(ctx, r.Path)
	if errors.Is(err, framework.ErrNoNode) {
		return parent{}, nil
	}
	swept, ok := znode.ParseSwept(data)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %s", lease.ErrForeignData, quote.Excerpt(data))
	}
	return parent{true, data, swept, stat}, err
}

// make creates the node above the records. It need not succeed: what there is then is
// read next.
func (r *Records) make(ctx context.Context) error {
	_, err := r.Client.Create(ctx, r.Path, nil, framework.Persistent)
	if errors.Is(err, framework.ErrNodeExists) || isUnknown(ctx, err) {
		return nil
	}
	return err
}

// isUnknown reports whether a write may have been carried out, and there is time left
// to find out.
func isUnknown(ctx context.Context, err error) bool {
	return errors.Is(err, framework.ErrUnknownOutcome) && ctx.Err() == nil
}

// Room returns an error if a record cannot be made: an ErrForgotten, an ErrTooMany, or
// another.
func (r *Records) Room(ctx context.Context, c *framework.Client, n Name) error {
	_, err := r.room(ctx, c, n)
	return err
}

func (r *Records) room(ctx context.Context, c *framework.Client, n Name) (parent, error) {
	p, err := r.parent(ctx, c)
	switch {
	case err != nil:
	case !n.Tick.IsZero() && !n.Tick.After(p.swept):
		err = fmt.Errorf("%w: these begin after %s", ErrForgotten, znode.FormatTick(p.swept))
	case p.stat.NumChildren >= Max:
		r.sweepIfDue(p.swept)
		err = ErrTooMany
	}
	return p, err
}

// Get returns the data of a record, nil if there is none.
func (r *Records) Get(ctx context.Context, c *framework.Client, n Name) ([]byte, error) {
	data, _, err := c.Get(ctx, r.PathOf(n))
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return nil, nil
	case err == nil && data == nil:
		data = []byte{}
	}
	return data, err
}

// ErrCheckFailed means that the check of Add failed.
var ErrCheckFailed = errors.New("the check failed")

// Add makes a record in one transaction with a check and other operations. If there is
// one already, it returns the data of that. After an unknown outcome it does so again:
// while the record exists there is no second one, and the operations with it. An error
// that is a framework.ErrUnknownOutcome as well says that an attempt may have been
// carried out.
func (r *Records) Add(ctx context.Context, check framework.Op, n Name, data []byte, also ...framework.Op) (existing []byte, err error) {
	var unknown error
	for {
		existing, again, err := r.add(ctx, check, n, data, also)
		switch {
		case err == nil && !again:
			return existing, nil
		case err != nil && isUnknown(ctx, err):
			unknown = err
		case err != nil && unknown != nil:
			return nil, fmt.Errorf("%w; %w", err, unknown)
		case err != nil:
			return nil, err
		}
	}
}

// add makes one attempt. It is to be repeated if records were removed meanwhile.
func (r *Records) add(ctx context.Context, check framework.Op, n Name, data []byte, also []framework.Op) (existing []byte, again bool, err error) {
	p, err := r.room(ctx, r.Client, n)
	if err == nil && !p.exists {
		return nil, true, r.make(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	own := []framework.Op{check, framework.CheckOp(r.Path, p.stat.Version), framework.CreateOp(r.PathOf(n), data, framework.Persistent)}
	_, err = r.Client.Multi(ctx, append(own, also...)...)
	failed, multi := -1, (*framework.MultiError)(nil)
	if errors.As(err, &multi) {
		failed = multi.Index
	}
	switch {
	case err == nil:
		recipepath.WarnIfOpen(r.Client, recipepath.SizedNodes(r.Path))
		r.sweepIfDue(p.swept)
	case failed == 0:
		err = fmt.Errorf("%w: %w", ErrCheckFailed, multi.Err)
	case failed == 1: // records were removed
		return nil, true, nil
	case failed == 2 && errors.Is(err, framework.ErrNodeExists):
		existing, err = r.Get(ctx, r.Client, n)
		return existing, existing == nil, err
	case failed >= len(own):
		err = fmt.Errorf("also[%d]: %w", failed-len(own), multi.Err)
	}
	return nil, false, err
}
