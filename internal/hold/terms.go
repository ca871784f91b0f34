package hold

import "time"

// Terms are what the options of a recipe say about the times of its slots.
type Terms struct {
	// MaxHold ends each hold; 0 is no limit.
	MaxHold time.Duration
	// MinHold is for how long a slot stays taken at least, unless it is lost.
	MinHold time.Duration
	// LockDelay is for how long a slot stays closed after an unclean end, see package
	// lockdelay; 0 is none.
	LockDelay time.Duration
}
