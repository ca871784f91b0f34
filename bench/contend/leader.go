package contend

import "time"

// resign measures changes of leader between two sessions: from the call that resigns to
// the return of the call that campaigns.
func (c *contender) resign(v Values) (Values, error) {
	other, err := systems[c.config.System](c.config)
	if err != nil {
		return nil, err
	}
	defer other.close()
	path := v["path"]
	leader, err := c.system.locker("leader", path, 0)
	if err != nil {
		return nil, err
	}
	next, err := other.locker("leader", path, 1)
	if err != nil {
		return nil, err
	}
	if err := leader.acquire(); err != nil {
		return nil, err
	}
	var took time.Duration
	for range v.Int("n") {
		one, err := c.succeed(leader, next, path)
		if err != nil {
			return nil, err
		}
		took += one
		leader, next = next, leader
	}
	return measured(v.Int("n"), v.Int("n"), took), leader.release()
}

// succeed lets one leader resign when the next one campaigns.
func (c *contender) succeed(leader, next locker, path string) (time.Duration, error) {
	won := make(chan error, 1)
	var at time.Time
	go func() {
		err := next.acquire()
		at = time.Now()
		c.slots.hold(0, "leader", 0, 0)
		won <- err
	}()
	if err := await(c.system, path, 2, 0, nil); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := leader.release(); err != nil {
		return 0, err
	}
	err := <-won
	return at.Sub(start), err
}

// campaign starts to campaign, and returns when the path has so many candidates. Only
// the end of the process ends the term.
func (c *contender) campaign(v Values) (Values, error) {
	candidate, err := c.system.locker("leader", v["path"], 0)
	if err != nil {
		return nil, err
	}
	c.won = make(chan error, 1)
	go func() { c.won <- candidate.acquire() }()
	return Values{}, await(c.system, v["path"], v.Int("total"), 0, nil)
}
