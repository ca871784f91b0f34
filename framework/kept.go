package framework

import "sync"

// kept are values that a session, or a client, keeps for recipes, each under a key.
type kept struct {
	mu     sync.Mutex
	values map[any]any
}

// get returns the value of a key, which is made at the first call.
func (k *kept) get(key any, make func() any) any {
	k.mu.Lock()
	defer k.mu.Unlock()
	value, ok := k.values[key]
	if !ok {
		if k.values == nil {
			k.values = map[any]any{}
		}
		value = make()
		k.values[key] = value
	}
	return value
}
