package hold

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// rest is what remains of the minimum hold time.
func (h *Hold) rest() time.Duration { return h.terms.MinHold - h.held() }

// freeRested frees the slot of a hold that is released when its minimum hold time has
// passed, or the client is being closed, which waits for that. Only an awaited release
// waits for it. The lease was valid until it was released, whatever happens meanwhile.
func (h *Hold) freeRested(by removal, ended func(error)) error {
	h.end()
	free := func() error {
		h.awaitRest()
		var err error
		if h.Session().Err() != nil { // with which the znodes go
			h.unwatch()
			h.unrecordInBackground()
		} else if err = h.free(false); errors.Is(err, lease.ErrLost) {
			err = nil
		}
		h.table.release(h, false)
		ended(err)
		return err
	}
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

// awaitRest waits until the minimum hold time has passed, the session is over, or Close
// has begun.
func (h *Hold) awaitRest() {
	closing, closes := context.WithCancelCause(context.Background())
	listener := kit.CloseListener{Closes: closes}
	kit.Of(h.client).OnClose(&listener)
	defer kit.Of(h.client).OffClose(&listener)
	defer closes(nil)
	timer := time.NewTimer(h.rest())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.Session().Done():
	case <-closing.Done():
	}
}
