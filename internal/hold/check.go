package hold

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Confirm asks the leader whether the znodes exist, when those of earlier holders whose
// slots were handed over are known to be deleted.
func (h *Handle) Confirm(ctx context.Context) error {
	if err := h.Err(); err != nil {
		return err
	}
	err := h.hold.confirm(ctx)
	if errors.Is(err, framework.ErrNoNode) {
		h.hold.lose(lease.ErrDeleted)
	}
	if own := h.Err(); own != nil {
		return own
	}
	if err != nil {
		return fmt.Errorf("confirm %s: %w", quote.Path(h.hold.Path()), err)
	}
	return nil
}

func (h *Hold) confirm(ctx context.Context) error {
	if err := kit.Of(h.client).AwaitReleased(ctx, path.Dir(h.Path())); err != nil {
		return err
	}
	_, err := h.client.Multi(ctx, h.exists(nil))
	return err
}

// exists is the check of all znodes.
func (h *Hold) exists(unless func() error) framework.Op {
	client := kit.Of(h.client)
	own := client.CheckExists(h.Path(), unless)
	if len(h.entry.also) == 0 {
		return own
	}
	all := []framework.Op{own}
	for _, other := range h.paths()[1:] {
		all = append(all, client.CheckExists(other, nil))
	}
	return client.AllOf(all...)
}

// Check returns the operation that makes a Multi fail unless the znodes exist. That may
// be so for a while when the slot was released and handed over, but not for this
// process.
func (h *Handle) Check() framework.Op { return h.hold.exists(h.hold.goneIfReleased) }

// goneIfReleased returns an ErrNoNode if the hold was released.
func (h *Hold) goneIfReleased() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.loss == nil && h.closed {
		return fmt.Errorf("%w: %w", framework.ErrNoNode, releasedError{h})
	}
	return nil
}
