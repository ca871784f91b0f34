package framework

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"

	"github.com/zkrecipes/zkrecipes/retry"
)

// Whatever else an error tells: if any attempt may have taken effect, it is not to be
// made again as if it had not.
func TestUnknownOutcomeWinsOverAllElseThatAnErrorTells(t *testing.T) {
	t.Parallel()
	unknown := &OpError{Op: "create", Path: "/a", Outcome: Unknown, Err: zk.ErrConnectionClosed}
	for _, other := range []error{errMoved, ErrThrottled, ErrNotConnected, ErrSessionLost, ErrSessionExpired, ErrNodeExists, ErrNoNode} {
		for _, err := range []error{
			unknown, errors.Join(other, unknown), errors.Join(unknown, other), fmt.Errorf("%w, then %w", unknown, other),
			&OpError{Op: "create", Path: "/a", Outcome: Failed, Err: errors.Join(unknown, other)},
		} {
			assert.Equal(t, retry.Unknown, new(Client).verdict(err), "%v", err)
			assert.Equal(t, Unknown, OutcomeOf(err), "%v", err)
			assert.ErrorIs(t, err, ErrUnknownOutcome)
			pinned := &Client{pinned: &Session{}}
			assert.False(t, pinned.repeatable(err, false))
			assert.False(t, new(Client).repeatable(err, false))
		}
	}
	for _, again := range []error{errMoved, ErrThrottled, ErrNotConnected} {
		assert.Equal(t, retry.Again, new(Client).verdict(&OpError{Outcome: Failed, Err: again}))
	}
	assert.Equal(t, retry.Fatal, new(Client).verdict(errors.Join(unknown, ErrClosed)), "there is nowhere to repeat it")
}
