package faultsweep

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A Plan describes a run.
type Plan struct {
	// Recipe is what the clients contend for.
	Recipe conformance.Recipe
	// Clients is the number of clients.
	Clients int
	// Rounds is how often each client acquires.
	Rounds int
	// Seed orders what happens at the same moment.
	Seed uint64
	// Hold is how long a lease is held.
	Hold time.Duration
	// Impatient is how many clients begin each round with an acquire that may be
	// cancelled or time out, or with a further client that is closed in the middle of
	// one.
	Impatient int
	// Lean leaves out Confirm. All else is checked.
	Lean bool
	// Linger keeps all clients open until the last is done, so that what one leaves
	// behind disturbs the others.
	Linger bool
	// Faults strike at calls of the server, numbered from 1, that are neither a ping
	// nor a sync that keeps a session trusted.
	Faults zktest.Schedule
	// Outages strike at times.
	Outages []Outage
	// Splits strike at times.
	Splits []Split
	// Lead has the clients elect leaders with leader.Lead, instead of acquiring.
	Lead bool
	// Next has the first leader, or another client, make a candidate the next leader.
	// Each client acquires once.
	Next bool
}

// An Outage cuts one client off for some time.
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

// Actions are the faults that a sweep tries at each call. A cut before the call takes
// effect drops the request, one after it drops the reply.
func Actions() []zktest.Action {
	return []zktest.Action{
		zktest.CutConnection, zktest.DropReply, zktest.Delay(Past), zktest.ExpireSession, zktest.Mute,
	}
}

// callsPerRun is about the number of calls of a run without faults.
const callsPerRun = 75

// RandomLean makes a lean plan with one to three faults, and sometimes an outage or a
// split, as a function of its seed. Each client acquires once. In one of four plans, a
// client has an acquire that may fail first.
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
	p.maybeSplit(seed)
	return p
}

// outage adds an outage.
func (p *Plan) outage(rnd *rand.Rand) {
	p.Outages = []Outage{{
		Client: clientName(rnd.IntN(p.Clients)), Stalling: rnd.IntN(2) == 0,
		At:  time.Duration(rnd.Int64N(int64(min(3*p.Hold, 4*time.Second)))) + 1,
		For: time.Duration(rnd.Int64N(int64(2*conformance.SessionTimeout))) + 1,
	}}
}

func clientName(i int) string { return fmt.Sprintf("c%d", i) }
