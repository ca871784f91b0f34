package framework

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Update changes a node's data by a compare-and-set: it reads the data, calls change,
// and writes what change returns if the node still has the version that was read. If
// another client has written meanwhile it starts again, so that no write is undone
// unseen. change returns the new data, or write false to leave the node as it is, or an
// error, which Update returns. It may be called several times.
//
// An answer that is dropped does not fail the call. Update then syncs, reads, and
// recognises its own write by its version and its data; else it starts again. Two cases
// look the same. Its own write was carried out and another client has changed the node
// since: then change gets data that it has changed already. Or it was not, and another
// client has written the same over the same version: then that counts as its own. So
// change should set the data to a value rather than add to it.
//
// data may lag behind the ensemble's. Then the write is refused, and repeated. If
// change leaves the node as it is because of what it saw, a Sync before Update makes
// sure that it saw all that was written before.
//
// Errors: ErrNoNode, and others of Get and Set; OutcomeOf says whether the node may
// have been changed all the same, as when ctx ends, or the session that a view is
// pinned to.
func (c *Client) Update(ctx context.Context, path string, change func(data []byte, stat Stat) (next []byte, write bool, err error)) error {
	var unsure updates
	for {
		data, stat, err := c.current(ctx, path, len(unsure) > 0)
		if err != nil {
			return unsure.explain(err)
		}
		if unsure.made(data, stat) {
			return nil
		}
		next, write, err := change(data, stat)
		if err != nil || !write {
			return unsure.explain(err)
		}
		switch _, err = c.Set(ctx, path, next, stat.Version); {
		case c.once:
			return err
		case errors.Is(err, ErrBadVersion):
		case errors.Is(err, ErrUnknownOutcome) && ctx.Err() == nil:
			unsure = append(unsure, update{stat, slices.Clone(next), err})
		default:
			return unsure.explain(err)
		}
	}
}

// current reads a node. If it is read again, after a write whose answer was dropped, it
// must not be from a server that may show older data than the first read.
func (c *Client) current(ctx context.Context, path string, again bool) ([]byte, Stat, error) {
	if again {
		if err := c.Sync(ctx, path); err != nil {
			return nil, Stat{}, err
		}
	}
	return c.Get(ctx, path)
}

// An update is a write of which it is not known whether it was carried out.
type update struct {
	over Stat // what it was to replace
	data []byte
	err  error // how it ended
}

type updates []update

// made reports whether a node is as one of the updates has made it.
func (all updates) made(data []byte, stat Stat) bool {
	return slices.ContainsFunc(all, func(u update) bool {
		return stat.Czxid == u.over.Czxid && stat.Version == u.over.Version+1 && bytes.Equal(data, u.data)
	})
}

// explain adds to an error that something may have been written before.
func (all updates) explain(err error) error {
	if err == nil || len(all) == 0 {
		return err
	}
	return fmt.Errorf("%w; before that: %w", err, all[len(all)-1].err)
}
