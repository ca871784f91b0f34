package leader

import (
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// The default pauses of Lead: about DefaultPause after the first failure, and growing
// up to DefaultMaxPause.
const (
	DefaultPause    = 100 * time.Millisecond
	DefaultMaxPause = 15 * time.Second
)

// An Option changes how one participant takes part.
type Option func(*options)

type options struct {
	maxHold time.Duration
	pace    retry.Policy
}

// WithMaxHold ends every term of this participant after that time, with
// lease.ErrMaxHold, so that leadership goes round. The znode goes when the term is
// released, or a sixth of the session timeout later, whichever comes first. 0 is no
// limit.
func WithMaxHold(d time.Duration) Option { return func(o *options) { o.maxHold = d } }

// WithPace says how Lead spaces its campaigns after failures: see Lead. The default,
// which the zero policy stands for, grows from DefaultPause to DefaultMaxPause, with
// jitter. With retry.None Lead ends with the first failure.
func WithPace(pace retry.Policy) Option { return func(o *options) { o.pace = pace } }
