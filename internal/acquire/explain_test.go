package acquire

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
)

// What a wait reports as its last failure: never that its time was up.
func TestLastFailure(t *testing.T) {
	t.Parallel()
	for _, over := range []error{errWaitOver, context.DeadlineExceeded, errors.New("the caller's")} {
		testLastFailure(t, over)
	}
}

func testLastFailure(t *testing.T, over error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	due := &framework.OpError{Op: "children", Outcome: framework.Unknown, Err: over}
	refused := &framework.OpError{Op: "children", Outcome: framework.Failed, Err: framework.ErrThrottled}
	connect := &framework.ConnectError{}
	earlier := errors.New("earlier")
	lost := fmt.Errorf("x: %w", framework.ErrSessionExpired)
	for name, c := range map[string]struct{ end, want error }{
		"the time was up":                      {over, earlier},
		"with a request under way":             {due, earlier},
		"not free":                             {queue.ErrNotFree, earlier},
		"a refusal":                            {refused, refused},
		"a refusal before that":                {fmt.Errorf("stopped: %w; last error: %w", over, refused), refused},
		"a refusal before a request under way": {fmt.Errorf("%w; before that: %w", due, refused), refused},
		"several":                              {errors.Join(due, refused), refused},
		"no server":                            {&framework.OpError{Err: fmt.Errorf("%w: %w", over, connect)}, connect},
		"no session any more":                  {lost, lost},
		"no node any more":                     {queue.ErrEvicted, queue.ErrEvicted},
	} {
		assert.Equal(t, c.want, (&wait{ctx: ctx, failed: earlier}).lastFailure(c.end), name)
	}
	assert.NoError(t, (&wait{ctx: ctx}).lastFailure(due))
}
