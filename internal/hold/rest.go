package hold

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// rest is what remains of the minimum hold time.
func (h *Hold) rest() time.Duration { return h.terms.MinHold - h.held() }

// freeRested frees the slot of a hold that is released when its minimum hold time has
// passed, for which only an awaited release waits. The lease was valid until it was
// released, whatever happens meanwhile. If the session ends so do the znodes.
func (h *Hold) freeRested(by removal, ended func(error)) error {
	h.letGo(false)
	free := func() error {
		timer := time.NewTimer(h.rest())
		defer timer.Stop()
		var err error
		select {
		case <-timer.C:
			if err = h.free(false); errors.Is(err, lease.ErrLost) {
				err = nil
			}
		case <-h.Session().Done():
			h.unwatch()
		}
		ended(err)
		return err
	}
	h.sendUnrecord() // the work has ended
	if by == awaited {
		return free()
	}
	begun := h.Session().Go(func(context.Context) {
		if err := free(); err != nil {
			h.logFailed(err)
		}
	})
	if !begun {
		return free()
	}
	return nil
}
