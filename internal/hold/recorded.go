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
//
// Nothing was begun while no caller had a lease, as before a multi-lock has all its
// locks. If the hold is lost then, the record goes as well.

// IsRecorded reports whether the holder is recorded for a lock-delay.
func (h *Hold) IsRecorded() bool { return h.recorded }

// IsRecorded reports whether the holder with a lease on one slot is recorded.
func IsRecorded(held *lease.Lease) bool {
	handle := innermost(held.Context())
	return handle != nil && handle.hold.recorded
}

func (h *Hold) record() string { return znode.HolderRecord(h.Path()) }

// removeRecorded deletes the znode and the record in one transaction, so that nobody
// sees one without the other. What is not certainly deleted is left to the background,
// but for the record of a lease that was lost.
func (h *Hold) removeRecorded(ctx context.Context) error {
	missing, repeated, err := h.transact(ctx, framework.DeleteOp(h.Path(), framework.AnyVersion))
	switch {
	case missing == 1: // the record went before, or by hand
		return h.client.DeleteGuaranteed(ctx, h.Path())
	case missing == 0 && repeated: // by the attempt before
		return nil
	case err == nil, missing == 0: // another client has deleted the znode
		return err
	}
	h.remove()
	if !errors.Is(err, framework.ErrSessionLost) {
		h.unrecordInBackground()
	}
	return err
}

// unrecord deletes the record, for a slot that is freed later. It returns an ErrNoNode
// if the znode does not stand any more: then the lease was lost, and the record stays.
func (h *Hold) unrecord() error {
	if !h.recorded || h.Session().Err() != nil {
		return nil
	}
	ctx, cancel := h.removal()
	defer cancel()
	missing, _, err := h.transact(ctx, kit.Of(h.client).CheckExists(h.Path(), nil))
	switch missing {
	case 0:
		return err
	case none:
		if err != nil {
			h.unrecordInBackground()
		}
	}
	return nil
}

// none is the index of no operation.
const none = -1

// transact carries out an operation on the znode together with the delete of the
// record. It is repeated while its outcome is unknown. missing says which of the two
// found no node.
func (h *Hold) transact(ctx context.Context, op framework.Op) (missing int, repeated bool, err error) {
	for ; ; repeated = true {
		_, err = h.client.Multi(ctx, op, framework.DeleteOp(h.record(), framework.AnyVersion))
		if framework.OutcomeOf(err) != framework.Unknown || ctx.Err() != nil {
			break
		}
	}
	refused := (*framework.MultiError)(nil)
	if errors.Is(err, framework.ErrNoNode) && errors.As(err, &refused) {
		return refused.Index, repeated, err
	}
	return none, repeated, err
}

// noteCutShort is called before a claim ends. Its work is cut short if the claim was
// given up, or if the hold was lost, but for Close.
func (h *Hold) noteCutShort(by removal) {
	if !h.recorded || by == discarded {
		return
	}
	if err := h.err(); by == givenUp || err != nil && !errors.Is(err, framework.ErrClosed) {
		h.mu.Lock()
		h.cutShort = true
		h.mu.Unlock()
	}
}

// wasCutShort reports whether there was work that nobody has said to have ended.
func (h *Hold) wasCutShort() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cutShort
}

// unrecordInBackground deletes the record, also after the end of the session.
func (h *Hold) unrecordInBackground() {
	if h.recorded {
		kit.Of(h.client.In(nil)).DeleteInBackground(h.record())
	}
}
