package framework

import (
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// checkSize returns an error for a request that is too large. The server closes a
// connection that sends a frame larger than it accepts. That looks like any other
// break, and the request would be repeated for ever.
func (s *Session) checkSize(record []byte) error {
	if bytes, limit := guard.HeaderBytes+len(record), s.core.cfg.MaxRequestBytes; bytes > limit {
		return fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, bytes, limit)
	}
	return nil
}
