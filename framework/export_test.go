package framework

// TakeTurns makes further requests in a session wait until it ends.
func TakeTurns(s *Session) {
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
}

// KeptWatches tells how many watches the session of a client remembers.
func KeptWatches(c *Client) int {
	s := c.Session()
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	return len(s.watch.entries)
}

// KeepNoIdleWatches makes a client's session remove watches as soon as they have no
// waiter.
func KeepNoIdleWatches(c *Client) {
	t := &c.Session().watch
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit = 0
}

// IdleLimit is how many idle watches are kept in a session.
const IdleLimit = idleLimit

// ParentsLimit is how many parents a client remembers at least.
const ParentsLimit = parentsLimit

// RememberedParents is how many parents a client remembers.
func RememberedParents(c *Client) int {
	p := &c.core.parents
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.recent) + len(p.older)
}

// Streak returns how many parents in a row were missing, or there.
func Streak(c *Client) int {
	c.core.parents.mu.Lock()
	defer c.core.parents.mu.Unlock()
	return c.core.parents.streak
}
