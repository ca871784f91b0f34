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

// A Parting splits the server in two for a while: a leader that has lost its quorum and
// does not know, and the others. See [zktest.Server.Split].
type Parting struct {
	Clients []string      // who is left with the old leader
	At      time.Duration // after the clients' start
	Late    time.Duration // after that they come to the old leader, from a server of the others; 0 if they were there
	For     time.Duration // how long they stay
}

// part carries a parting out. The server is whole again when it returns.
func (r *run) part(p Parting, done <-chan struct{}) {
	if !sleep(p.At, done) {
		return
	}
	var minority *zktest.Minority
	if p.Late == 0 {
		r.leave(p.Clients, true)
		minority = r.server.Split(p.Clients...)
	} else {
		minority = r.server.Split()
	}
	defer minority.End()
	if p.Late > 0 && sleep(p.Late, done) {
		r.leave(p.Clients, true)
		for _, client := range p.Clients {
			minority.Take(client)
			sleep(apart, done)
		}
	}
	sleep(p.For, done)
	for _, client := range p.Clients {
		minority.Return(client)
		sleep(apart, done)
	}
	r.leave(p.Clients, false)
}

// apart is how far apart clients change the server: what several do at the same moments
// does not always repeat.
const apart = 3700 * time.Microsecond

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

// leave notes who is with the old leader.
func (r *run) leave(clients []string, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, client := range clients {
		r.left[client] = on
	}
}

// noteExpiry notes the leases that their holder has not given up when their session
// expires, while it is with the old leader: whether they are valid, which would be a
// fault, or lost.
func (r *run) noteExpiry(c zktest.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Phase != zktest.PhaseExpire || !r.left[c.Client] {
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

// partly gives some plans a parting, as a function of the seed. Who holds when the
// server splits mostly holds on for longer than its session lives with the others, and
// so long it mostly stays where it is.
func (p *Plan) partly(seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 0x7061727473))
	if rnd.IntN(partingsOneIn) > 0 {
		return
	}
	p.Rounds = 1
	p.Hold = 9013*time.Millisecond + time.Duration(rnd.IntN(20))*101*time.Millisecond
	split := Parting{At: time.Duration(rnd.Int64N(int64(p.Hold - conformance.SessionTimeout)))}
	if rnd.IntN(4) == 0 {
		split.Late = time.Duration(rnd.Int64N(int64(conformance.SessionTimeout / 2)))
	}
	split.For = time.Duration(rnd.Int64N(int64(2 * conformance.SessionTimeout)))
	// Who waits and reconnects twice does not repeat: it is told two things at once
	// then.
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
	p.Partings = []Parting{split}
	if rnd.IntN(2) == 0 {
		p.Faults, p.Outages = slices.Clip(p.Faults[:1]), nil // little else goes wrong
	}
}

// partingsOneIn so many random plans has a parting.
const partingsOneIn = 8
