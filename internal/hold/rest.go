package hold

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// rest is what remains of the minimum hold time.
func (h *Hold) rest() time.Duration { return h.terms.MinHold - h.held() }

// freeRested frees the slot of a hold that is released when its minimum hold time has
// passed, for which only an awaited release waits. If the session ends so do the
// znodes. The record goes at once: the work has ended.
func (h *Hold) freeRested(by removal, ended func(error)) error {
	h.letGo(false)
	var unrecorded sync.WaitGroup
	var deleted error
	unrecorded.Go(func() { deleted = h.unrecord() })
	free := func() error {
		timer := time.NewTimer(h.rest())
		defer timer.Stop()
		var err error
		select {
		case <-timer.C:
			if err = h.free(false); errors.Is(err, lease.ErrLost) {
				err = nil // it was valid until it was released
			}
		case <-h.Session().Done():
			h.unwatch()
		}
		unrecorded.Wait()
		switch {
		case deleted != nil: // it was not
			err = h.lost(lease.ErrDeleted)
		case h.Session().Err() != nil:
			h.unrecordInBackground() // if that was not answered
		}
		ended(err)
		return err
	}
	if by == awaited {
		return free()
	}
	unrecorded.Wait() // the client may be closed next
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
