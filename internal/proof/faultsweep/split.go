package faultsweep

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A Split splits the server in two for some time: an old leader, which is without a
// quorum and does not know, and the majority. See [zktest.Server.Split].
type Split struct {
	Clients []string      // those with the old leader
	At      time.Duration // after the clients' start
	Late    time.Duration // later they move to the old leader from the majority; 0 if they were with it
	For     time.Duration // how long they stay with it
}

// split runs a split. The server is one again when it returns.
func (r *run) split(p Split, done <-chan struct{}) {
	if !sleep(p.At, done) {
		return
	}
	var minority *zktest.Minority
	if p.Late == 0 {
		r.markWithOldLeader(p.Clients, true)
		minority = r.server.Split(p.Clients...)
	} else {
		minority = r.server.Split()
	}
	defer minority.End()
	if p.Late > 0 && sleep(p.Late, done) {
		r.markWithOldLeader(p.Clients, true)
		for _, client := range p.Clients {
			minority.Take(client)
			sleep(pause, done)
		}
	}
	sleep(p.For, done)
	for _, client := range p.Clients {
		minority.Return(client)
		sleep(pause, done)
	}
	r.markWithOldLeader(p.Clients, false)
}

// pause is the time between the moves of two clients: what they do at the same moment
// does not always repeat.
const pause = 3700 * time.Microsecond

// sleep lets time pass, unless the run is done. It reports whether it did.
func sleep(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	}
}

// markWithOldLeader records which clients are with the old leader.
func (r *run) markWithOldLeader(clients []string, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, client := range clients {
		r.withOldLeader[client] = on
	}
}

// recordExpiry records the leases that are not released when their session expires
// while their holder is with the old leader. They may be lost by then; if one is valid
// that is a fault.
func (r *run) recordExpiry(c zktest.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Phase != zktest.PhaseExpire || !r.withOldLeader[c.Client] {
		return
	}
	for l, session := range r.owners {
		if session != c.Session {
			continue
		}
		if l.Err() == nil || errors.Is(context.Cause(l.Context()), lease.ErrLost) {
			r.report.Struck = append(r.report.Struck, l.Path())
		}
	}
}

// maybeSplit gives some plans a split, as a function of the seed. A holder at the split
// mostly holds on for longer than its session lives with the majority, and mostly stays
// with the old leader for that time.
func (p *Plan) maybeSplit(seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 0x7061727473))
	if rnd.IntN(splitOneIn) > 0 {
		return
	}
	p.Rounds = 1
	p.Hold = 9013*time.Millisecond + time.Duration(rnd.IntN(20))*101*time.Millisecond
	split := Split{At: time.Duration(rnd.Int64N(int64(p.Hold - conformance.SessionTimeout)))}
	if rnd.IntN(4) == 0 {
		split.Late = time.Duration(rnd.Int64N(int64(conformance.SessionTimeout / 2)))
	}
	split.For = time.Duration(rnd.Int64N(int64(2 * conformance.SessionTimeout)))
	// A waiter that reconnects twice does not repeat: it receives two events at once.
	if rnd.IntN(4) > 0 || split.Late > 0 {
		split.For += conformance.SessionTimeout
	}
	one := rnd.IntN(p.Clients)
	alone := rnd.IntN(2) == 0
	for i := range p.Clients {
		if alone == (i == one) { // one of them, or all but one
			split.Clients = append(split.Clients, clientName(i))
		}
	}
	p.Splits = []Split{split}
	if rnd.IntN(2) == 0 {
		p.Faults, p.Outages = slices.Clip(p.Faults[:1]), nil // few other faults
	}
}

// One in splitOneIn random plans has a split.
const splitOneIn = 8
