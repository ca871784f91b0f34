package zkotel

import "sync"

// A cache makes what is needed for a key once, such as the attributes of a metric. Its
// keys are few: they are made from templates and from lists in the code.
type cache[K comparable, V any] struct {
	make func(K) V

	mu   sync.RWMutex
	made map[K]V
}

// of returns what is made for a key.
func (c *cache[K, V]) of(key K) V {
	c.mu.RLock()
	v, ok := c.made[key]
	c.mu.RUnlock()
	if ok {
		return v
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok = c.made[key]; ok {
		return v
	}
	if c.made == nil {
		c.made = map[K]V{}
	}
	v = c.make(key)
	c.made[key] = v
	return v
}

// each calls f with all that was made.
func (c *cache[K, V]) each(f func(V)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, v := range c.made {
		f(v)
	}
}
