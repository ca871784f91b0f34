package faultsweep

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A Report is the result of a run.
type Report struct {
	// Calls is how many calls a fault could have struck.
	Calls int
	// Grants is how many leases were granted, Lost how many of them were lost.
	Grants, Lost int
	// Struck are the nodes of the leases that were held with an old leader when the
	// majority expired their session.
	Struck []string
	// Downgrades is how many writers became readers.
	Downgrades int
	// Made is how many candidates MakeNext made the next leader.
	Made int
	// Unclean is how many ends a lock-delay may have followed.
	Unclean int
	// Trace is what happened on the server.
	Trace []zktest.Event
	// Broken says which invariants were broken, and how.
	Broken []string
}

// waitLimit is the virtual time in which every client must have been granted, if
// nobody waits for a lock-delay.
const waitLimit = 20 * conformance.SessionTimeout

// path is the path on which the clients contend.
const path = "/sweep/recipe"

// second is the path of the second lock of those that are on two.
const second = "/sweep/second"

// hungAfter is the real time after which a run counts as hung.
const hungAfter = 30 * time.Second

// Run runs the plan.
func (p Plan) Run(t *testing.T) (report Report) {
	t.Helper()
	stuck := time.AfterFunc(hungAfter, func() { panic("virtual time stands still in " + p.String()) })
	defer stuck.Stop()
	defer func() {
		// A goroutine was left, or all goroutines are blocked.
		if r := recover(); r != nil {
			report.Broken = append(report.Broken, fmt.Sprint("I4 or I5: ", r))
		}
	}()
	synctest.Test(t, func(*testing.T) {
		r := &run{plan: p, referee: p.Recipe.Referee(), owners: map[*lease.Lease]int64{}, expired: map[int64]bool{}, leading: map[*lease.Lease]string{}, withOldLeader: map[string]bool{}}
		r.referee.Excuse = r.excused
		r.carryOut()
		report = r.report
	})
	return report
}

// A run is one execution of a plan.
type run struct {
	plan     Plan
	server   *zktest.Server
	referee  *conformance.Referee
	members  map[string]*conformance.Referee // of the locks of a multi-lock, by their paths
	delays   *conformance.Delays             // nil for a recipe without a lock-delay and a minimum hold time
	observed conformance.ObserverLog         // the events of all clients
	working  sync.WaitGroup                  // the clients that are not done

	mu            sync.Mutex
	report        Report
	calls         int
	owners        map[*lease.Lease]int64
	expired       map[int64]bool // sessions that were ended by force
	recipes       map[*framework.Client]lease.Acquirer
	random        map[string]io.Reader
	leading       map[*lease.Lease]string
	withOldLeader map[string]bool // clients that are with an old leader

	naming naming
}

func (r *run) brokenf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Broken = append(r.report.Broken, fmt.Sprintf(format, args...))
}

// excused tells whether a lease may be over without knowing it: its session was ended
// by force, which no server does by itself.
func (r *run) excused(l *lease.Lease) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.expired[r.owners[l]]
}

func (r *run) carryOut() {
	server, err := zktest.Start(zktest.WithNetwork(new(zktest.Network)), zktest.WithStepper(r.plan.Seed, synctest.Wait), zktest.WithConcurrency(follows))
	if err != nil {
		r.brokenf("%v", err)
		return
	}
	r.server = server
	r.followTerms()
	r.followMembers()
	defer server.Close()
	server.SetFaults(r.faults())
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit+r.delayLimit())
	defer cancel()
	done := make(chan struct{})
	var clients, others sync.WaitGroup
	r.working.Add(r.plan.Clients)
	for i := range r.plan.Clients {
		clients.Go(func() { r.client(ctx, i) })
	}
	for _, o := range r.plan.Outages {
		others.Go(func() { r.outage(o, done) })
	}
	for _, p := range r.plan.Splits {
		others.Go(func() { r.split(p, done) })
	}
	others.Go(func() { r.watch(done) })
	began := time.Now()
	if r.plan.Lead {
		others.Go(func() { r.followLeaders(done) })
	}
	clients.Wait()
	r.checkTime(time.Since(began))
	close(done)
	others.Wait()
	server.SetFaults(nil)
	r.inspect()
}

// faults returns the function that decides what happens to each call.
func (r *run) faults() func(zktest.Call) zktest.Action {
	faults := r.plan.Faults.Faults()
	return func(c zktest.Call) zktest.Action {
		r.recordExpiry(c)
		r.observe(c)
		if c.Op == zktest.OpPing || c.Op == zktest.OpSync && c.Path == "/" {
			return zktest.Pass // calls that keep sessions alive are not counted; outages strike those
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls++
		c.N = r.calls
		action := faults(c)
		switch {
		case action == zktest.DropReply && c.Phase == zktest.PhaseEvent:
			action = zktest.CutConnection // no connection drops an event and then goes on
		case action == zktest.ExpireSession:
			r.expired[c.Session] = true
		}
		return action
	}
}

// follows tells which requests of a client keep their order: it lists behind a create,
// deletes its record before its node, sets its watches again before it asks for
// anything else, and sends nothing after a close.
func follows(earlier, later zktest.Sent) bool {
	switch {
	case later.Op == zktest.OpClose, earlier.Op == zktest.OpSetWatches:
		return true
	case earlier.Op == zktest.OpCreate:
		return later.Op == zktest.OpGetChildren2
	case earlier.Op == zktest.OpDelete:
		return strings.Contains(earlier.Path, "/"+znode.LockDelayDir+"/") && later.Op == zktest.OpDelete
	}
	return false
}

// watch checks all leases again and again.
func (r *run) watch(done <-chan struct{}) {
	every := 97 * time.Millisecond
	if r.plan.Lean {
		every = 487 * time.Millisecond // each grant and each release checks as well
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.look()
		case <-done:
			return
		}
	}
}

func (r *run) outage(o Outage, done <-chan struct{}) {
	alter := r.server.Partition
	if o.Stalling {
		alter = r.server.Stall
	}
	for i, d := range []time.Duration{o.At, o.For} {
		timer := time.NewTimer(d)
		select {
		case <-timer.C:
		case <-done:
		}
		timer.Stop()
		alter(o.Client, i == 0)
	}
}

// anyForced tells whether a session was ended by force.
func (r *run) anyForced() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.expired) > 0
}

// isParent tells whether a child of the path may be the parent of a queue.
func isParent(name string) bool {
	_, _, isRun := znode.ParseRun(name)
	return isRun || name == znode.QueueDir || name == znode.PermitsDir || strings.HasPrefix(name, znode.Stripe)
}

// parents returns the paths of all queues.
func (r *run) parents() []string {
	parents := r.roots()
	for _, root := range parents {
		for _, child := range r.server.Children(root) {
			if isParent(child) {
				parents = append(parents, root+"/"+child)
			}
		}
	}
	return parents
}

// inspect checks what the clients have left when all are closed.
func (r *run) inspect() {
	for _, o := range r.plan.Outages {
		r.server.Partition(o.Client, false)
		r.server.Stall(o.Client, false)
	}
	// Sessions that could not be closed expire, also one that is made only now because
	// its request was late.
	<-time.After(Past + 2*conformance.SessionTimeout)
	r.server.Settle()
	for _, s := range r.server.Sessions() {
		r.brokenf("I5: session of %s left, with %v", s.Client, s.Ephemeral)
	}
	for _, parent := range r.parents() {
		left := slices.DeleteFunc(r.server.Children(parent), func(name string) bool {
			return isParent(name) || name == znode.RecordsDir || r.delays != nil && name == znode.LockDelayDir
		})
		if len(left) > 0 {
			r.brokenf("I5: nodes left in %s: %v", parent, left)
		}
	}
	r.checkDelays()
	if n := r.server.Watches(); n > 0 {
		r.brokenf("I5: %d watches left", n)
	}
	for _, a := range r.recipes {
		if inspector, ok := a.(interface{ inspect(*zktest.Server) []string }); ok {
			for _, wrong := range inspector.inspect(r.server) {
				r.brokenf("I6: %s", wrong)
			}
		}
	}
	for _, wrong := range r.observed.Wrong() {
		r.brokenf("I5: observers were notified wrongly: %s", wrong)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Calls = r.calls
	r.report.Trace = r.server.Trace()
	for _, f := range r.referee.Faults() {
		r.report.Broken = append(r.report.Broken, "I1 to I3: "+f)
	}
	for lock, referee := range r.members {
		for _, f := range referee.Faults() {
			r.report.Broken = append(r.report.Broken, "I1 to I3: "+lock+": "+f)
		}
	}
}
