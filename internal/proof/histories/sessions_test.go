package histories

// look finds out whether a client has several sessions.
func (r *run) look() {
	living := map[string]int{}
	for _, s := range r.server.Sessions() {
		if living[s.Client]++; s.Connected && living[s.Client] > 1 {
			r.spread.Store(1)
		}
	}
}

// spread has a session take only a few contenders, so that those of a client are in
// several. It has its own die, as travelTogether, which comes before it: the callers
// beside the threads stay in the main session.
func (s *Scenario) spread() {
	d := newDie(s.Seed, 0x73657373)
	if s.Beside > 0 || !d.chance(40) {
		return
	}
	most, nested := 1, false
	var look func(steps []Step)
	look = func(steps []Step) {
		for _, st := range steps {
			most, nested = max(most, 1+st.N), nested || len(st.Inner) > 0
			look(st.Inner)
		}
	}
	for _, th := range s.Threads {
		look(th.Steps)
	}
	if nested && (s.Recipe == "rwlock" || s.Recipe == mixedLocks) {
		return // a downgrade needs room in the writer's session
	}
	s.Room = most*slotBytes + d.IntN(3)*slotBytes
}

// slotBytes is more than a node of a contender takes of Config.MaxEphemeralBytes.
const slotBytes = 120
