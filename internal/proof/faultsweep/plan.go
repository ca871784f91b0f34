package faultsweep

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A Plan says what happens in a run.
type Plan struct {
	// Recipe is what the clients contend for. Its Slots must be 1 or more.
	Recipe conformance.Recipe
	// Clients is how many there are.
	Clients int
	// Rounds is how often each acquires.
	Rounds int
	// Seed orders what happens at once.
	Seed uint64
	// Hold is how long a lease is held.
	Hold time.Duration
	// Impatient is how many of the clients begin each round with an acquire that may be
	// given up, or with a further client that is closed in the middle of one.
	Impatient int
	// Lean leaves out the questions to the server whether a lease stands. All else is
	// looked at all the same.
	Lean bool
	// Linger keeps all clients open until the last is done, so that what one leaves
	// behind is in the way of others.
	Linger bool
	// Faults strike at calls of the server, numbered from 1, that are neither a ping
	// nor a sync that keeps a session trusted.
	Faults zktest.Schedule
	// Outages strike at times.
	Outages []Outage
	// Partings strike at times, too.
	Partings []Parting
	// Lead has the clients elect leaders with leader.Lead, instead of acquiring.
	Lead bool
}

// An Outage cuts one client off for a while.
type Outage struct {
	Client   string        // its name
	At       time.Duration // after the clients' start
	For      time.Duration // how long
	Stalling bool          // what is sent meanwhile arrives afterwards
}

// String is the plan as Go source, to run it again.
func (p Plan) String() string {
	return strings.ReplaceAll(fmt.Sprintf("%#v", p), "faultsweep.", "")
}

// Past is a delay that no session outlives.
const Past = conformance.SessionTimeout + 2*time.Second

// Actions are the faults that a sweep tries at each call. At a call's moment before it
// takes effect "cut" loses the request, after it the reply.
func Actions() []zktest.Action {
	return []zktest.Action{
		zktest.CutConnection, zktest.DropReply, zktest.Delay(Past), zktest.ExpireSession, zktest.Mute,
	}
}

// callsPerRun is about how many calls a run makes before the first fault strikes.
const callsPerRun = 75

// RandomLean makes a lean plan with one to three faults, and now and then an outage or
// a parting, as a function of its seed. Each client waits for the others once. In one
// of four plans, one of them gives up first.
func RandomLean(r conformance.Recipe, seed uint64) Plan {
	rnd := rand.New(rand.NewPCG(seed, 0x706c616e))
	p := Plan{Recipe: r, Clients: 3, Rounds: 1, Seed: seed, Hold: 101 * time.Millisecond, Lean: true, Linger: seed%4 == 1}
	actions := append(Actions(), zktest.Delay(10*time.Millisecond), zktest.Delay(time.Second), zktest.Delay(conformance.SessionTimeout/2))
	p.Faults = zktest.RandomSchedule(seed, 1+rnd.IntN(3), callsPerRun, actions...)
	if rnd.IntN(4) == 0 {
		p.Hold = time.Duration(1+rnd.IntN(20)) * 101 * time.Millisecond
		p.outage(rnd)
	}
	if seed%4 == 2 {
		p.Impatient = 1
	}
	p.partly(seed)
	return p
}

// outage adds one.
func (p *Plan) outage(rnd *rand.Rand) {
	p.Outages = []Outage{{
		Client: clientName(rnd.IntN(p.Clients)), Stalling: rnd.IntN(2) == 0,
		At:  time.Duration(rnd.Int64N(int64(min(3*p.Hold, 4*time.Second)))) + 1,
		For: time.Duration(rnd.Int64N(int64(2*conformance.SessionTimeout))) + 1,
	}}
}

func clientName(i int) string { return fmt.Sprintf("c%d", i) }
