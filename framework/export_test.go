package framework

// TakeTurns makes further requests in a session wait until it ends.
func TakeTurns(s *Session) {
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
}
