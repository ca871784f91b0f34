package main

import "time"

// The client sends the leader a request every twelfth of the session timeout, and
// trusts its lease for about half a timeout after the newest request that was answered.
// So a healthy lease always has about a third left, just before an answer comes. The
// grace is what must be left; the difference is how late an answer may be before the
// command is stopped.
const (
	defaultGraceShare = 6 // of the session timeout
	maxGraceShare     = 4
)

// graceFor returns how long before the end of trust the command gets TERM: what was
// asked for, or a sixth of the session timeout. It refuses a grace that would stop
// healthy commands, and a maximum hold time that is no longer than the grace: the
// command would get TERM as it starts.
func (f *jobFlags) graceFor(sessionTimeout time.Duration) (time.Duration, error) {
	grace, err := graceOf(f.grace, sessionTimeout)
	if err == nil && f.maxHold.given && f.maxHold.value <= grace {
		return 0, usageErrorf("--max-hold %v leaves no time: the command gets TERM %v (--grace) before the end; choose a longer --max-hold or a shorter --grace", f.maxHold.value, grace)
	}
	return grace, err
}

func graceOf(asked option[time.Duration], sessionTimeout time.Duration) (time.Duration, error) {
	if !asked.given {
		return sessionTimeout / defaultGraceShare, nil
	}
	if limit := sessionTimeout / maxGraceShare; asked.value > limit {
		return 0, usageErrorf("--grace %v is too long for a session timeout of %v: at most a quarter of it, %v. "+
			"A healthy lease is certain for a third of it, %v, so with a grace near that a single late answer would stop the command. "+
			"Choose a longer --session-timeout, or a shorter grace",
			asked.value, sessionTimeout, limit, sessionTimeout/3)
	}
	return asked.value, nil
}
