package faultsweep

import (
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// termsOf are the times of the recipes that have a lock-delay or a minimum hold time,
// by their names.
var termsOf = map[string]hold.Terms{}

// timed names a recipe that has these times.
func timed(name string, terms hold.Terms, r conformance.Recipe) conformance.Recipe {
	r.Name, termsOf[name] = name, terms
	return r
}

const (
	// lockDelay is longer than a client waits for anything else because of faults: so
	// the time of a run shows whether a client has waited for it.
	lockDelay = faultTime + 2010*time.Millisecond
	// faultTime is the longest time of a run in which no client waits for a lock-delay.
	faultTime = 31 * time.Second
)

// followTerms has the run follow leases and their records, if the recipe needs that.
func (r *run) followTerms() {
	terms, ok := termsOf[r.plan.Recipe.Name]
	if !ok {
		return
	}
	r.delays = &conformance.Delays{Server: r.server, LockDelay: terms.LockDelay, MinHold: terms.MinHold, Excuse: r.excused}
	r.referee.Lingers = r.delays.Lingers
}

func (r *run) observe(c zktest.Call) {
	if r.delays != nil {
		r.delays.Observe(c, r.parents()...)
	}
}

func (r *run) grant(name string, l *lease.Lease) {
	r.grantMembers(name, l)
	r.referee.Grant(name, l)
}

func (r *run) releasing(l *lease.Lease) {
	if r.delays == nil {
		return
	}
	for _, part := range parts(l) {
		r.delays.Releasing(part)
	}
}

func (r *run) look() {
	if r.delays != nil {
		r.delays.Look()
	}
	r.lookAtMembers()
	r.referee.Look()
}

// closing is called when a client is closed. A release does not wait until its record
// is deleted.
func (r *run) closing(c *framework.Client) {
	if r.delays != nil {
		r.delays.Closing(c.Session().ID(), 2*Past)
	}
}

// delayLimit is the longest time in which the clients may wait for lock-delays: each of
// them may in each round close a client that has all locks, and a delay begins only
// when a waiter has reached its lock. checkTime is stricter.
func (r *run) delayLimit() time.Duration {
	if r.delays == nil {
		return 0
	}
	return time.Duration(r.plan.Clients*r.plan.Rounds*len(r.roots())) * r.delays.LockDelay
}

// checkTime checks that nobody has waited for a lock-delay after a clean end. A client
// that waits for one may lose its session, and the next one then begins to count.
func (r *run) checkTime(took time.Duration) {
	if r.delays == nil {
		return
	}
	delay, unclean, waits := r.delays.LockDelay, r.delays.Unclean(), 0
	for _, e := range r.server.Trace() {
		if e.Op == zktest.OpClose && e.Phase == zktest.PhaseExpire {
			waits++
		}
	}
	r.mu.Lock()
	r.report.Unclean = unclean
	r.mu.Unlock()
	if limit := faultTime + time.Duration(unclean+waits)*delay; delay > faultTime && took > limit {
		r.brokenf("I7: all clients took %v, with %d unclean ends and %d sessions that expired", took, unclean, waits)
	}
}

// checkDelays checks which records are left when all clients are closed.
func (r *run) checkDelays() {
	if r.delays == nil {
		return
	}
	r.delays.CheckLeft(r.parents()...)
	for _, wrong := range r.delays.Faults() {
		r.brokenf("I7: %s", wrong)
	}
}
