package hold

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// The holder of a slot with a lock-delay is recorded. The record goes with the release
// of a lease that is valid, or was only ended by Close: then the work under it has
// ended. It stays after any other loss, although the lease may be released then: what
// the work had begun elsewhere may not have ended. See package lockdelay.

// IsRecorded reports whether the holder is recorded for a lock-delay.
func (h *Hold) IsRecorded() bool { return h.recorded }

// IsRecorded reports whether the holder with a lease on one slot is recorded.
func IsRecorded(held *lease.Lease) bool {
	handle := innermost(held.Context())
	return handle != nil && handle.hold.recorded
}

func (h *Hold) record() string { return znode.HolderRecord(h.Path()) }

// removeRecorded deletes the znode and the record in one transaction, so that nobody
// sees one without the other. What is not certainly deleted is left to the background.
func (h *Hold) removeRecorded(ctx context.Context) error {
	for repeated := false; ; repeated = true {
		_, err := h.client.Multi(ctx, framework.DeleteOp(h.Path(), framework.AnyVersion), framework.DeleteOp(h.record(), framework.AnyVersion))
		refused := (*framework.MultiError)(nil)
		missing := errors.Is(err, framework.ErrNoNode) && errors.As(err, &refused)
		switch {
		case missing && refused.Index == 1: // it went before, or by hand
			return h.client.DeleteGuaranteed(ctx, h.Path())
		case missing && repeated: // by the attempt before
			return nil
		case err == nil, missing: // another client has deleted the znode: that was a loss
			return err
		case framework.OutcomeOf(err) == framework.Unknown && ctx.Err() == nil:
			continue
		}
		h.remove()
		h.unrecordInBackground()
		return err
	}
}

// unrecord deletes the record, while the znode still stands.
func (h *Hold) unrecord() {
	if h.recorded && h.Session().Err() == nil {
		ctx, cancel := h.removal()
		defer cancel()
		_ = h.client.DeleteGuaranteed(ctx, h.record())
	}
}

// sendUnrecord is unrecord that waits for nothing.
func (h *Hold) sendUnrecord() {
	if h.recorded && !kit.Of(h.client).SendDelete(context.Background(), h.record(), false, func(error) {}) {
		h.unrecordInBackground()
	}
}

// unrecordInBackground deletes the record, also after the end of the session.
func (h *Hold) unrecordInBackground() {
	if h.recorded {
		kit.Of(h.client.In(nil)).DeleteInBackground(h.record())
	}
}
