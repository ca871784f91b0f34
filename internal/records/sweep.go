package records

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// How records are removed, and why no run is recorded twice because of that.
//
// The parent of the records stores a moment, up to which they were swept. It never goes
// back. Who sweeps first stores a later moment, unless the parent was written since it
// read that. Then it removes the records that were made not later than this moment, but
// not those of later ticks, in transactions that fail unless nobody has written the
// parent since: so nobody else removes any meanwhile.
//
//   - Ticks. A tick whose record was removed is not later than the moment stored. Each
//     transaction that makes a record checks the version of the parent at which its
//     tick was later than the moment: so there is never a second record of that tick.
//   - Keys. The record was made, by the clock of the server that led then, at least the
//     retention before the moment at which it is removed. It is the one that was looked
//     at, and not a younger one of the same key, unless somebody has removed that by
//     hand at this very moment: then the run is done again once more.
//
// The moment is the retention before now, and now is the earlier one of two: the clock
// of this machine, and that of the leading server, as the stat of the parent says after
// a first write. So one wrong clock that is ahead makes nobody forget too early.

// sweepsPerRetention is how often records are swept during the retention: so they are
// kept for an eighth of it more.
const sweepsPerRetention = 8

// A sweep is bounded, as somebody waits for it. What is left is for the next one.
const (
	sweepLimit = 5 * time.Second
	inOneGo    = 128 // records that are removed together
	atATime    = 32  // reads: those that prove the session alive wait behind them
)

// sweepIfDue removes old records, if that was not done lately. It is called when a
// record was made, or there were too many.
func (r *Records) sweepIfDue(ctx context.Context, swept time.Time) {
	if !r.due(time.Now(), swept) {
		return
	}
	s := r.Client.Session()
	if s == nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	if err := r.sweep(limited, r.Client.In(s)); err != nil && ctx.Err() == nil && !errors.Is(err, framework.ErrBadVersion) {
		kit.Of(r.Client).Logger().Warn("old records were not removed", "path", quote.Path(r.Client.FullPath(r.Path)), "error", err)
	}
}

// due reports whether it is time to sweep.
func (r *Records) due(now, swept time.Time) bool {
	return now.Sub(swept)-r.Retention >= r.Retention/sweepsPerRetention
}

// sweep removes old records. It fails with an ErrBadVersion if somebody else begins to.
func (r *Records) sweep(ctx context.Context, c *framework.Client) error {
	before, err := r.parent(ctx, c)
	if err != nil || !r.due(time.Now(), before.swept) {
		return err
	}
	begun, err := c.Set(ctx, r.Path, before.data, before.stat.Version) // tells the server's time
	if err != nil {
		return err
	}
	now := time.Now()
	if begun.Mtime.Before(now) {
		now = begun.Mtime
	}
	if !r.due(now, before.swept) {
		return nil
	}
	upTo := now.Add(-r.Retention)
	parent, err := c.Set(ctx, r.Path, znode.Swept(upTo), begun.Version)
	if err != nil {
		return err
	}
	names, _, err := c.Children(ctx, r.Path)
	for some := range slices.Chunk(names, inOneGo) {
		if err == nil {
			some, err = r.old(ctx, c, some, upTo)
		}
		if err == nil {
			err = r.remove(ctx, c, some, parent.Version)
		}
	}
	return err
}

// old returns which of some records are to be removed. A tick that was run late is kept
// for as long as others.
func (r *Records) old(ctx context.Context, c *framework.Client, names []string, upTo time.Time) ([]string, error) {
	keep, errs := make([]bool, len(names)), make([]error, len(names))
	var reads sync.WaitGroup
	for i, name := range names {
		if i%atATime == 0 {
			reads.Wait()
		}
		if _, tick, ok := znode.ParseRun(name); !ok || tick.After(upTo) {
			keep[i] = true
			continue
		}
		reads.Go(func() {
			exists, stat, err := c.Exists(ctx, r.Path+"/"+name)
			keep[i], errs[i] = !exists || stat.Ctime.After(upTo), err
		})
	}
	reads.Wait()
	var old []string
	for i, name := range names {
		if !keep[i] {
			old = append(old, name)
		}
	}
	return old, errors.Join(errs...)
}

// remove removes records while the parent has that version. One that cannot be removed,
// because it is gone or somebody has made nodes below it, is no reason not to remove
// the others.
func (r *Records) remove(ctx context.Context, c *framework.Client, names []string, version int32) error {
	for len(names) > 0 {
		ops := []framework.Op{framework.CheckOp(r.Path, version)}
		for _, name := range names {
			ops = append(ops, framework.DeleteOp(r.Path+"/"+name, framework.AnyVersion))
		}
		_, err := c.Multi(ctx, ops...)
		multi := (*framework.MultiError)(nil)
		stays := errors.Is(err, framework.ErrNoNode) || errors.Is(err, framework.ErrNotEmpty)
		if !errors.As(err, &multi) || multi.Index == 0 || !stays {
			return err
		}
		names = slices.Delete(names, multi.Index-1, multi.Index)
	}
	return nil
}
