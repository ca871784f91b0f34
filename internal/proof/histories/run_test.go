package histories

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A Report is the result of a run.
type Report struct {
	History      []op
	Broken       []string // the broken invariants, and how they were broken
	Grants, Lost int      // leases granted, and how many of them were lost
	Calls        int      // calls that a fault could have struck
	HandOvers    handOvers
	Groups       groups
	Struck       int // leases held by clients cut off from the majority when it expired their session
	Spread       int // 1 if a client had several sessions when it was granted a lease
	Unclean      int // ends that a lock-delay has followed
	Restarts     int // multi-locks that began again while they were acquired
	Made         int // the next leader, by MakeNext
	SteppedBack  int // candidates
	Trace        []zktest.Event
}

const (
	// path is the path on which the clients contend.
	path = "/histories/recipe"
	// faultsEnd is when the last fault strikes.
	faultsEnd = 40 * time.Second
	// waitLimit is how long after that, plus the time of all holds, every client must
	// have been granted.
	waitLimit = 10 * conformance.SessionTimeout
	// past is longer than any session lives without its client.
	past = conformance.SessionTimeout + 2*time.Second
	// hungAfter is the real time after which a run counts as hung.
	hungAfter = 30 * time.Second
)

var errTooLong = errors.New("waited for longer than any client has to")

// Run runs the scenario and checks its history.
func (s Scenario) Run(t *testing.T) (report Report) {
	t.Helper()
	stuck := time.AfterFunc(hungAfter, func() { panic("virtual time stands still in " + s.String()) })
	defer stuck.Stop()
	var r *run
	func() {
		defer func() {
			// A goroutine was left, or all goroutines are blocked.
			if p := recover(); p != nil {
				report.Broken = append(report.Broken, fmt.Sprint("I4 or I5: ", p))
			}
		}()
		synctest.Test(t, func(*testing.T) {
			r = &run{scenario: s, subject: subjects[s.Recipe], record: newRecord()}
			r.carryOut()
			report = r.report() // inside the bubble, where leases can be checked
		})
	}()
	if len(report.History) == 0 && len(report.Broken) > 0 {
		return report
	}
	if err := check(r.subject.model(r.subject.size), report.History); err != nil {
		report.Broken = append(report.Broken, err.Error())
	}
	return report
}

// report returns the result of the run so far.
func (r *run) report() (report Report) {
	report.Grants, report.Lost = r.counts()
	report.History = r.history()
	report.Broken = r.broken
	report.Calls = r.calls
	report.Struck = r.struck
	report.HandOvers = r.handedOver.counts
	report.Groups = r.together.counts
	report.Spread = int(r.spread.Load())
	if r.delays != nil {
		report.Unclean = r.delays.Unclean()
	}
	report.Restarts = int(r.restarts.Load())
	report.Made, report.SteppedBack = r.namings.made, r.namings.steppedBack
	report.Trace = r.server.Trace()
	return report
}

// A run is one execution of a scenario.
type run struct {
	*record
	scenario Scenario
	subject  *subject
	server   *zktest.Server
	clients  []*station
	spread   atomic.Int32            // 1 if a client had several sessions
	restarts atomic.Int32            // how many multi-locks began again while they were acquired
	notified conformance.ObserverLog // the events of all clients
	ctx      context.Context         // of all threads; it ends when every client must have been granted
	ending   chan struct{}           // closed when the threads are done
	listed   chan struct{}           // receives when a contender has listed the queue

	operating atomic.Bool // the operator is

	delays *conformance.Delays // nil without a lock-delay and a minimum hold time

	handedOver handedOver
	together   together
	besides    sync.WaitGroup
	absences   []absence // from the majority
	struck     int

	faultLock sync.Mutex
	calls     int
	queue     []string // of a semaphore, at the call before
	heads     []head   // of an election
	namings   namings  // of candidates of one

	observing sync.WaitGroup
	observers []*observed

	observersEnd context.Context
	endObserving context.CancelFunc
}

// A station is a client of the scenario. If it is closed, a new one replaces it.
type station struct {
	name   string
	number int

	mu     sync.Mutex
	client *framework.Client
	closed bool // by its own thread

	stripesOf *framework.Client
	stripes   map[int]*striped.Locks // of that client, by their number
	resized   atomic.Int32           // how often it was found to be another one

	beside []*beside
}

func clientName(i int) string { return fmt.Sprintf("c%d", i) }

func (r *run) carryOut() {
	server, err := zktest.Start(zktest.WithNetwork(new(zktest.Network)), zktest.WithStepper(r.scenario.Seed, synctest.Wait), zktest.WithTraceLimit(4000))
	if err != nil {
		r.brokenf("%v", err)
		return
	}
	r.server = server
	defer server.Close()
	if err := r.prepare(); err != nil {
		r.brokenf("preparation: %v", err)
		return
	}
	r.followDelays()
	server.SetFaults(r.faults())
	longest := faultsEnd + waitLimit + r.scenario.closedTime()
	for _, th := range r.scenario.Threads {
		longest += holds(th.Steps)
		for th.Client >= len(r.clients) {
			st := &station{name: clientName(len(r.clients)), number: len(r.clients)}
			st.beside = r.newBeside(st)
			r.clients = append(r.clients, st)
		}
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), longest, errTooLong)
	defer cancel()
	r.ctx, r.ending, r.listed = ctx, make(chan struct{}), make(chan struct{}, 1)
	r.observersEnd, r.endObserving = context.WithCancel(context.Background())
	defer r.endObserving()

	var threads, others sync.WaitGroup
	for _, st := range r.clients {
		threads.Go(func() { r.runClient(st) })
	}
	for _, tr := range r.scenario.Troubles {
		others.Go(func() { r.trouble(tr) })
	}
	others.Go(r.watch)
	threads.Wait()
	r.deleteBeside()
	close(r.ending)
	others.Wait()
	server.SetFaults(nil)
	r.inspect()
}

// prepare prepares the path for the recipe.
func (r *run) prepare() error {
	if r.subject.prepare == nil && !r.scenario.writes() && r.scenario.Beside == 0 {
		return nil
	}
	c, err := framework.Connect(context.Background(), conformance.Config(r.server, operator))
	if err != nil {
		return err
	}
	if r.subject.prepare != nil {
		err = r.subject.prepare(context.Background(), c, r.scenario)
	}
	if err == nil && r.scenario.writes() {
		_, err = c.Create(context.Background(), register, nil, framework.Persistent)
	}
	if err == nil && r.scenario.Beside > 0 {
		err = r.scenario.prepareBeside(context.Background(), c)
	}
	return errors.Join(err, c.Close())
}

// watch checks all leases again and again.
func (r *run) watch() {
	tick := time.NewTicker(97 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.look()
		case <-r.ending:
			return
		}
	}
}

// sleep lets time pass, unless the run ends. It reports whether it did.
func (r *run) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.ending:
		return false
	}
}

// inspect checks what is left: nodes when no lease is held, and the rest when all
// clients are closed.
func (r *run) inspect() {
	left := func() []string { return append(r.contenders(), r.besideNodes()...) }
	if !r.eventually(func() bool { return len(left()) == 0 }) {
		r.brokenf("I5: nodes left while the clients live: %v", left())
	}
	r.endObservers()
	var closing sync.WaitGroup
	for _, st := range r.clients {
		if st.client != nil {
			closing.Go(func() {
				r.closing(st)
				_ = st.client.Close()
			})
		}
	}
	closing.Wait()
	r.eventually(func() bool { return len(r.server.Sessions()) == 0 })
	for _, s := range r.server.Sessions() {
		r.brokenf("I5: session of %s left, with %v", s.Client, s.Ephemeral)
	}
	if left := left(); len(left) > 0 {
		r.brokenf("I5: nodes left: %v", left)
	}
	if n := r.server.Watches(); n > 0 {
		r.brokenf("I5: %d watches left", n)
	}
	r.checkDelays()
	for _, wrong := range r.notified.Wrong() {
		r.brokenf("I5: observers were notified wrongly: %s", wrong)
	}
}

// eventually waits until a condition is true, for so long that also a session which is
// made only now, by a late request, has expired.
func (r *run) eventually(condition func() bool) bool {
	for deadline := time.Now().Add(past + 2*conformance.SessionTimeout); ; <-time.After(100 * time.Millisecond) {
		r.server.Settle()
		if condition() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}
