package framework

import "time"

// stuck reports whether the connection should be given up: nothing at all has
// come for silence although something is awaited, or one answer has not come for
// limit although others do.
func (c *guardConn) stuck(now time.Time, silence, limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var oldest time.Time
	if len(c.sent) > 0 {
		oldest = c.sent[0].at
	}
	if len(c.pings) > 0 && (oldest.IsZero() || c.pings[0].Before(oldest)) {
		oldest = c.pings[0]
	}
	if oldest.IsZero() {
		return false
	}
	waited := now.Sub(oldest)
	return waited >= limit || (waited >= silence && now.Sub(c.heard) >= silence)
}

// leaderless reports whether the server should be left because it seems to have lost
// its leader: for that long, the answer that is due next has been one to a sync.
func (c *guardConn) leaderless(now time.Time, limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFrame || len(c.sent) == 0 || c.sent[0].op != opSync {
		return false
	}
	since := c.sent[0].at
	if c.first.After(since) {
		since = c.first
	}
	return now.Sub(since) >= limit
}
