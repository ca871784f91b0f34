package main

import (
	"flag"
	"time"
)

// holdFlags are the flags about how long something is held, and how long it stays
// closed after an unclean end.
type holdFlags struct {
	maxHold, minHold, lockDelay option[time.Duration]
}

func (f *holdFlags) register(fs *flag.FlagSet) {
	fs.Func("max-hold", "", f.maxHold.set(parseDuration))
	fs.Func("min-hold", "", f.minHold.set(parseDuration))
	fs.Func("lock-delay", "", f.lockDelay.set(parseDuration))
}

// check finds the mistakes that show without a server.
func (f *holdFlags) check(verb string) error {
	if f.maxHold.given && f.minHold.value > f.maxHold.value {
		return usageErrorf("%s: --min-hold %v is longer than --max-hold %v", verb, f.minHold.value, f.maxHold.value)
	}
	return nil
}
