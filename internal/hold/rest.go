package hold

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// unrecord deletes the record of the holder, for a lock-delay: work under the lease has
// ended. It waits for nothing; the delete is on its way before those of the znodes are,
// as a rule. After the end of the session the delay cannot be avoided any more.
func (h *Hold) unrecord() {
	if !h.recorded || h.Session().Err() != nil {
		return
	}
	client, record := kit.Of(h.client), znode.HolderRecord(h.Path())
	sent := client.SendDelete(context.Background(), record, false, func(err error) {
		if errors.Is(err, framework.ErrNoAuth) {
			h.Session().Go(func(context.Context) { // a logger may block
				client.Logger().Warn("a release looks like an unclean end", "path", quote.Path(h.client.FullPath(record)), "error", err)
			})
		}
	})
	if !sent {
		client.DeleteInBackground(record)
	}
}

// rest is what remains of the minimum hold time.
func (h *Hold) rest() time.Duration { return h.terms.MinHold - h.held() }

// freeRested frees the slot of a hold that is released when its minimum hold time has
// passed, for which only an awaited release waits.
func (h *Hold) freeRested(by removal, handsOver bool, ended func(error)) error {
	free := func() error {
		timer := time.NewTimer(h.rest())
		defer timer.Stop()
		select {
		case <-timer.C:
			return h.freeNow(handsOver, ended)
		case <-h.Session().Done(): // with which the znodes go: the lease was valid until it was released
			h.unwatch()
			ended(nil)
			return nil
		}
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
		ended(nil)
	}
	return nil
}
