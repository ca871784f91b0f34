package zkprom

import "sync"

// series are the metrics of each combination of labels that has occurred. To find them
// allocates nothing, which prometheus does to look up labels. Combinations are few, as
// their labels are, so they are kept for ever.
type series[K comparable, V any] struct {
	make func(K) V

	mu  sync.RWMutex
	all map[K]V
}

// of returns the metrics of a combination. The first call makes them, with the value 0.
func (s *series[K, V]) of(key K) V {
	s.mu.RLock()
	found, ok := s.all[key]
	s.mu.RUnlock()
	if ok {
		return found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok = s.all[key]; ok {
		return found
	}
	if s.all == nil {
		s.all = map[K]V{}
	}
	made := s.make(key)
	s.all[key] = made
	return made
}
