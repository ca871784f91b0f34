package zkotel

// Tracked returns how many clients are remembered.
func (t *Telemetry) Tracked() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.tracked)
}
