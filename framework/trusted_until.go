package framework

import "time"

// TrustedUntil returns the earliest trust deadline of the sessions on which leases
// rely, for a metric of the trust that is left: see Session.TrustedUntil. It is zero if
// the client holds nothing.
func (c *Client) TrustedUntil() (until time.Time) {
	c.mustBeUsable()
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	for _, s := range append([]*Session{c.core.session}, c.core.further...) {
		if s == nil || !s.guard.IsRelied() {
			continue
		}
		if its := s.TrustedUntil(); until.IsZero() || its.Before(until) {
			until = its
		}
	}
	return until
}
