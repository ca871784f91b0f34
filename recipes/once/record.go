package once

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/records"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Record says which run is finished, and who finished it.
type Record struct {
	// Key is that of the run, or its tick as a text.
	Key string `json:"key"`
	// Token is that of the lease under which the run was finished.
	Token lease.Token `json:"token"`
	// Holder is the process. Since is when it finished the run, by its clock.
	lease.Holder
}

// parse reads the data of a record. Whatever they are, the record exists.
func parse(data []byte) *Record {
	r := new(Record)
	_ = json.Unmarshal(data, r)
	return r
}

// Recorded returns the record of the run, nil if there is none: then the run is not
// finished, or its record was removed, or never made.
func (r *Run) Recorded(ctx context.Context) (*Record, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	data, err := r.job.records.Get(ctx, r.job.records.Client, r.name)
	if data == nil || err != nil {
		return nil, err
	}
	return parse(data), nil
}

// recordedBy is the ErrRecorded for a record.
func recordedBy(data []byte) error { return fmt.Errorf("%w, by %s", ErrRecorded, parse(data).Holder) }

// isRecordedUnder reports whether the run is known to be recorded under a lease.
func (r *Run) isRecordedUnder(held *lease.Lease) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	found, err := r.Recorded(ctx)
	return err == nil && found != nil && found.Token == held.Token()
}

// Record records the run as finished, under a lease that Acquire has returned: in one
// transaction that fails unless the znode of the lease exists, and the run is not
// recorded yet. The transaction carries out the operations in also as well, by the view
// of the client that New was given: what they do happens exactly once, however often
// the run is begun. After nil the lease is needed for nothing more but to be released,
// and while it is valid another call under it does nothing.
//
// Without a connection Record waits until ctx ends or the lease is over. It also
// removes old records, if that was not done lately, for some seconds at most. Errors:
//
//   - lease.ErrLost, lease.ErrReleased: the lease is over, and this call has not
//     recorded the run. If it is a framework.ErrUnknownOutcome as well, it may have.
//   - framework.ErrUnknownOutcome: the run may be recorded. Recorded says so later, or
//     another call of Record under the same lease.
//   - ErrRecorded: another lease, or an operator, has recorded the run. ErrForgotten,
//     ErrTooManyRecords.
//   - framework.ErrInvalidArgument: the lease is not one on this run alone, as that of
//     a multilock.Lock is not.
//   - Others of the framework, also of an operation in also. Nothing has happened then.
func (r *Run) Record(ctx context.Context, held *lease.Lease, also ...framework.Op) error {
	if err := r.check(); err != nil {
		return err
	}
	err := held.Err()
	if err == nil {
		while, end := whileValid(ctx, held)
		defer end()
		err = r.add(while, held, also)
	}
	if err != nil {
		err = fmt.Errorf("record %s: %w", quote.Path(r.recipe.Client.FullPath(r.recipe.Path)), err)
	}
	return err
}

// whileValid returns a context that also ends when the lease is over. end must be
// called.
func whileValid(ctx context.Context, held *lease.Lease) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var waits sync.WaitGroup
	waits.Go(func() {
		select {
		case <-held.Done():
			cancel(held.Err())
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(nil); waits.Wait() }
}

// add makes the record. It checks the znode of the lease, and that it is one of the
// run: its name is unique, but its path may be that of another view of the client.
func (r *Run) add(ctx context.Context, held *lease.Lease, also []framework.Op) error {
	node := r.recipe.Path + "/" + path.Base(held.Path())
	own := framework.CheckOp(node, framework.AnyVersion)
	by := r.recipe.Self.Holder
	by.Since = time.Now().UTC().Truncate(time.Millisecond)
	data, _ := json.Marshal(Record{Key: r.key, Token: held.Token(), Holder: by}) // strings and numbers never fail
	if held.Token() == 0 {
		return fmt.Errorf("%w: the lease is on several locks", framework.ErrInvalidArgument)
	}
	checks, all := []framework.Op{held.Check(), own}, also
	recorded := hold.IsRecorded(held) // for a lock-delay, which ends with the work
	if recorded {
		all = append(slices.Clone(also), framework.DeleteOp(znode.HolderRecord(node), framework.AnyVersion))
	}
	existing, err := r.job.records.Add(ctx, checks, r.name, data, all...)
	if recorded && errors.Is(err, framework.ErrNoNode) && !errors.Is(err, records.ErrCheckFailed) { // an operator has deleted it
		existing, err = r.job.records.Add(ctx, checks, r.name, data, also...)
	}
	switch {
	case errors.Is(err, records.ErrCheckFailed):
		why := cmp.Or(held.Confirm(ctx), fmt.Errorf("%w: the lease is on %s", framework.ErrInvalidArgument, quote.Path(held.Path())))
		err = fmt.Errorf("%w: %w", why, err)
	case err == nil && existing != nil && parse(existing).Token != held.Token():
		err = recordedBy(existing)
	}
	return err
}
