package shares

// LookNow has the call look that is to look next.
func (s *Shares) LookNow() { s.search.choose() }
