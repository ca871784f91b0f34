package histories

import (
	"cmp"
	"time"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// faults returns the function that decides what happens to each call.
func (r *run) faults() func(zktest.Call) zktest.Action {
	strike := r.strikes()
	return func(c zktest.Call) zktest.Action {
		action := strike(c)
		r.handedOver.onCall(c, action)
		return action
	}
}

// strikes returns the function that decides by the schedules of the scenario.
func (r *run) strikes() func(zktest.Call) zktest.Action {
	slow := newDie(r.scenario.Seed, 0x736c6f77)
	scheduled, deletes, groups := r.scenario.Faults.Faults(), numbered(r.scenario.Deletes), numbered(r.scenario.Groups)
	return func(c zktest.Call) zktest.Action {
		r.recordExpiry(c)
		r.recordCommit(c)
		r.recordGroup(c)
		r.observe(c)
		if r.subject.watch != nil {
			r.subject.watch(r, c)
		}
		if c.Op == zktest.OpPing || c.Op == zktest.OpSync && c.Path == "/" || time.Since(r.began) > faultsEnd {
			return zktest.Pass // calls that keep sessions alive are not counted; troubles strike those
		}
		if isBeside(c) && c.Op != zktest.OpMulti && c.Op != zktest.OpMultiRead {
			return slowBeside(c) // alone, they are not struck
		}
		r.faultLock.Lock()
		r.calls++
		c.N = r.calls
		r.faultLock.Unlock()
		action := scheduled(c)
		action = cmp.Or(action, r.onListing(slow, c))
		if c.Op == zktest.OpDelete && c.Client != operator {
			action = cmp.Or(action, deletes(c))
		}
		if isBeside(c) {
			action = cmp.Or(action, groups(c), slowBeside(c))
		}
		switch {
		case action == zktest.DropReply && c.Phase == zktest.PhaseEvent:
			action = zktest.CutConnection // no connection drops an event and then goes on
		case action == zktest.DropReply && c.Phase == zktest.PhaseBeforeApply:
			action = zktest.Mute // nor a request: what is sent behind it comes later
		case action == zktest.ExpireSession:
			r.expire(c.Session)
		}
		return action
	}
}

// numbered returns the function of a schedule for calls that it numbers itself.
func numbered(s zktest.Schedule) func(zktest.Call) zktest.Action {
	faults, n := s.Faults(), 0
	return func(c zktest.Call) zktest.Action { // the stepper calls it one call at a time
		n++
		c.N = n
		return faults(c)
	}
}

// trouble runs a trouble.
func (r *run) trouble(tr Trouble) {
	if !r.sleep(tr.At) {
		return
	}
	lasts := func(alter func(string, bool)) {
		alter(tr.Client, true)
		r.sleep(tr.For)
		alter(tr.Client, false)
	}
	switch tr.What {
	case partitioned:
		lasts(r.server.Partition)
	case stalled:
		lasts(r.server.Stall)
	case refused:
		lasts(r.server.RefuseConnections)
	case lagging:
		lasts(r.server.Lag)
	case cutOff:
		r.cutOff(tr)
	case operated:
		r.operate(tr)
	case paused:
		r.server.Pause()
		r.sleep(tr.For)
		r.server.Resume()
	case restarted:
		r.server.Restart(true)
	case dropped:
		r.server.DropConnections(tr.Client)
	case expired:
		for _, s := range r.server.Sessions() {
			if s.Client == tr.Client {
				r.expire(s.ID)
				r.server.ExpireSession(s.ID)
			}
		}
	}
}
