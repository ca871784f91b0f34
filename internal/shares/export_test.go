package shares

// LookNow has the call look that is to look next.
func (s *Shares) LookNow() {
	s.search.mu.Lock()
	number := s.search.number
	s.search.mu.Unlock()
	s.search.choose(number)
}
