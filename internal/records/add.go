package records

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
)

// ErrCheckFailed means that one of the checks of Add failed.
var ErrCheckFailed = errors.New("a check failed")

// errWritten means that the parent was written, or the record removed, since they were
// read.
var errWritten = errors.New("records were removed meanwhile")

// Add makes a record in one transaction with some checks and other operations. If there
// is one already, it returns the data of that. An error that is a
// framework.ErrUnknownOutcome as well says that the record may have been made.
func (r *Records) Add(ctx context.Context, checks []framework.Op, n Name, data []byte, also ...framework.Op) (existing []byte, err error) {
	for {
		p, err := r.room(ctx, r.Client, n)
		switch {
		case errors.Is(err, framework.ErrNoNode): // above the parent all is gone, and what is checked
			return nil, fmt.Errorf("%w: %w", ErrCheckFailed, err)
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx) // of a read that was not answered nothing is unknown
		case err != nil: // no room is needed for a record that exists
			existing, _ := r.Get(ctx, r.Client, n)
			if existing != nil {
				err = nil
			}
			return existing, err
		}
		existing, err := r.add(ctx, p, checks, n, data, also)
		if err == nil && existing == nil {
			recipepath.WarnIfOpen(r.Client, recipepath.SizedNodes(r.Path))
			r.sweepIfDue(ctx, p.swept)
		}
		if !errors.Is(err, errWritten) {
			return existing, err
		}
	}
}

// maxAttempts bounds the attempts that all end unknown: each costs a connection.
const maxAttempts = 8

// add is Add for a parent that was read. An unknown attempt is repeated with the same
// version of that. While this is the version nothing was removed: so if the record was
// made it exists, and there is no second one, nor what goes with it.
func (r *Records) add(ctx context.Context, p parent, checks []framework.Op, n Name, data []byte, also []framework.Op) (existing []byte, err error) {
	own := append(slices.Clone(checks),
		framework.CheckOp(r.Path, p.stat.Version), framework.CreateOp(r.PathOf(n), data, framework.Persistent))
	version, create := len(checks), len(checks)+1
	var unknown error
	for range maxAttempts {
		_, err = r.Client.Multi(ctx, append(own, also...)...)
		if !isUnknown(ctx, err) {
			break
		}
		unknown = err
	}
	if err == nil {
		return nil, nil
	}
	failed, multi := -1, (*framework.MultiError)(nil)
	if errors.As(err, &multi) {
		failed = multi.Index
	}
	exists := failed == create && errors.Is(err, framework.ErrNodeExists)
	if unknown != nil || exists {
		existing, look := r.Get(ctx, r.Client, n)
		if existing != nil || (look != nil && unknown == nil) {
			return existing, look
		}
	}
	written := failed == version && (errors.Is(err, framework.ErrBadVersion) || errors.Is(err, framework.ErrNoNode))
	switch {
	case unknown != nil && (written || exists || isUnknown(ctx, err)):
		return nil, unknown
	case written || exists:
		return nil, errWritten
	case failed >= 0 && failed < version:
		err = fmt.Errorf("%w: %w", ErrCheckFailed, multi.Err)
	case failed > create:
		err = fmt.Errorf("also[%d]: %w", failed-len(own), multi.Err)
	}
	if unknown != nil {
		err = fmt.Errorf("%w; %w", err, unknown)
	}
	return nil, err
}
