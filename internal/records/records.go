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
	// Path is the node. It is created when it is first read, and stays.
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
	data  []byte
	swept time.Time // up to which moment records were removed, as the data say
	stat  framework.Stat
}

// parent reads the node above the records, and creates it if it does not exist.
func (r *Records) parent(ctx context.Context, c *framework.Client) (parent, error) {
	for {
		data, stat, err := c.Get(ctx, r.Path)
		if errors.Is(err, framework.ErrNoNode) {
			_, err = c.Create(ctx, r.Path, nil, framework.Persistent)
			if err == nil || errors.Is(err, framework.ErrNodeExists) || isUnknown(ctx, err) {
				continue
			}
		}
		swept, ok := znode.ParseSwept(data)
		if err == nil && !ok {
			err = fmt.Errorf("%w: %s", lease.ErrForeignData, quote.Excerpt(data))
		}
		return parent{data, swept, stat}, err
	}
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
	if err == nil && p.stat.NumChildren >= Max {
		r.sweepIfDue(ctx, p.swept)
		p, err = r.parent(ctx, c)
	}
	switch {
	case err != nil:
	case !n.Tick.IsZero() && !n.Tick.After(p.swept):
		err = fmt.Errorf("%w: these begin after %s", ErrForgotten, znode.FormatTick(p.swept))
	case p.stat.NumChildren >= Max:
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
