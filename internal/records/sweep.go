package records

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// How records are removed, and why no run is recorded twice because of that.
//
// The parent of the records stores a moment, up to which they were swept. It never goes
// back. One client at a time sweeps: it first stores a later moment, unless the parent
// was written since it read that; from then on it removes the records of ticks that are
// not later than this moment, and those of keys that were made not later, each in a
// transaction that fails unless nobody has written the parent since.
//
//   - Ticks. A tick whose record was removed is not later than the moment stored. Each
//     transaction that makes a record checks the version of the parent at which its
//     tick was later than the moment: so there is never a second record of that tick.
//   - Keys. The record was made, by the clock of the server that led then, at least the
//     retention before the moment at which it is removed. Since the sweep looked at a
//     record, nobody else has removed it: so it is not a younger one of the same key.
//
// The moment is the retention before now, and now is the earlier one of two: the clock
// of this machine, and that of the leading server, as the stat of the parent says after
// a first write. So one wrong clock that is ahead makes nobody forget too early.

// sweepsPerRetention is how often records are swept during the retention: so they are
// kept for an eighth of it more.
const sweepsPerRetention = 8

// sweepIfDue removes old records in the background, if that was not done lately. It is
// called when a record was made, or there were too many. What fails is left to a later
// sweep.
func (r *Records) sweepIfDue(swept time.Time) {
	if !r.due(time.Now(), swept) {
		return
	}
	if s := r.Client.Session(); s != nil {
		s.Go(func(ctx context.Context) { r.sweep(ctx, r.Client.In(s)) })
	}
}

// due reports whether it is time to sweep.
func (r *Records) due(now, swept time.Time) bool {
	return now.Sub(swept)-r.Retention >= r.Retention/sweepsPerRetention
}

// sweep removes old records, if nobody else has just begun to.
func (r *Records) sweep(ctx context.Context, c *framework.Client) {
	before, err := r.parent(ctx, c)
	if err != nil || !before.exists {
		return
	}
	begun, err := c.Set(ctx, r.Path, before.data, before.stat.Version) // tells the server's time
	now := time.Now()
	if begun.Mtime.Before(now) {
		now = begun.Mtime
	}
	if err != nil || !r.due(now, before.swept) {
		return
	}
	upTo := now.Add(-r.Retention)
	parent, err := c.Set(ctx, r.Path, znode.Swept(upTo), begun.Version)
	if err != nil {
		return
	}
	names, _, err := c.Children(ctx, r.Path)
	if err != nil {
		return
	}
	for _, name := range names {
		if remove, err := r.isOld(ctx, c, name, upTo); err != nil {
			return
		} else if !remove {
			continue
		}
		_, err := c.Multi(ctx, framework.CheckOp(r.Path, parent.Version), framework.DeleteOp(r.Path+"/"+name, framework.AnyVersion))
		if multi := (*framework.MultiError)(nil); err != nil && (!errors.As(err, &multi) || multi.Index == 0) {
			return // a record that is gone, by hand, is no reason
		}
	}
}

// isOld reports whether a record is to be removed. It does not read those of ticks.
func (r *Records) isOld(ctx context.Context, c *framework.Client, name string, upTo time.Time) (bool, error) {
	_, at, ok := znode.ParseRun(name)
	if ok && at.IsZero() {
		exists, stat, err := c.Exists(ctx, r.Path+"/"+name)
		if err != nil || !exists {
			return false, err
		}
		at = stat.Ctime
	}
	return ok && !at.After(upTo), nil
}
