package histories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// effects is the parent of what runs change in the transaction of their record.
const effects = "/histories/effects"

// jobLimit is how long all clients together may take after the last fault.
const jobLimit = 30 * conformance.SessionTimeout

// A jobRun is one execution of a plan.
type jobRun struct {
	*run
	plan    jobPlan
	stop    time.Time // no fault strikes later
	referee *conformance.Referee
	judge   *judge
	begun   int // how many runs were begun
}

func (p jobPlan) run(t *testing.T) (r *jobRun) {
	t.Helper()
	stuck := time.AfterFunc(hungAfter, func() { panic(fmt.Sprintf("virtual time stands still in %#v", p)) })
	defer stuck.Stop()
	r = &jobRun{plan: p, run: &run{record: &record{}}}
	defer func() {
		// A goroutine was left, or all goroutines are blocked.
		if p := recover(); p != nil {
			r.broken = append(r.broken, fmt.Sprint("P2 or P6: ", p))
		}
	}()
	synctest.Test(t, func(*testing.T) {
		r.run = &run{scenario: Scenario{Seed: p.Seed}, record: newRecord(), ending: make(chan struct{})}
		r.judge = newJudge(r)
		r.referee = &conformance.Referee{LockOf: func(l *lease.Lease) string { return folder(l.Path()) }, Excuse: r.excused}
		if p.Delay > 0 {
			r.delays = &conformance.Delays{LockDelay: p.Delay, Excuse: r.excused}
			r.referee.Lingers = r.delays.Lingers
		}
		r.carryOut()
	})
	return r
}

// excused tells whether a lease may be over without knowing it.
func (r *jobRun) excused(l *lease.Lease) bool { return r.anyExpired() || r.isEvicted(l.Path()) }

func (r *jobRun) carryOut() {
	server, err := zktest.Start(zktest.WithNetwork(new(zktest.Network)), zktest.WithStepper(r.plan.Seed, synctest.Wait), zktest.WithTraceLimit(4000))
	if err != nil {
		r.brokenf("%v", err)
		return
	}
	r.server = server
	if r.delays != nil {
		r.delays.Server = server
	}
	defer server.Close()
	if err := r.prepareJob(); err != nil {
		r.brokenf("preparation: %v", err)
		return
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), r.plan.duration()+jobLimit, errTooLong)
	defer cancel()
	r.ctx, r.stop = ctx, time.Now().Add(r.plan.duration())
	server.SetFaults(r.strikes())
	var threads, others sync.WaitGroup
	for i := range r.plan.Retentions {
		st := &station{name: clientName(i), number: i}
		r.clients = append(r.clients, st)
		threads.Go(func() { r.runJobs(st) })
	}
	for _, tr := range r.plan.Troubles {
		others.Go(func() { r.disturb(tr) })
	}
	others.Go(r.watchJobs)
	threads.Wait()
	close(r.ending)
	others.Wait()
	r.finish()
}

// runs are the paths of the queues of all runs.
func (r *jobRun) runs() (all []string) {
	for _, child := range r.server.Children(path) {
		if child != znode.RecordsDir {
			all = append(all, path+"/"+child)
		}
	}
	return all
}

// prepareJob creates the parent of the effects.
func (r *jobRun) prepareJob() error {
	c, err := framework.Connect(context.Background(), conformance.Config(r.server, operator))
	if err == nil {
		err = c.CreateParents(context.Background(), effects)
	}
	if err == nil {
		_, err = c.Create(context.Background(), effects, nil, framework.Persistent)
	}
	return errors.Join(err, c.Close())
}

// strikes returns the function that decides what happens to each call, and shows each
// to the judge.
func (r *jobRun) strikes() func(zktest.Call) zktest.Action {
	scheduled := numbered(r.plan.Faults)
	return func(c zktest.Call) zktest.Action {
		if c.Phase == zktest.PhaseAfterApply {
			r.judge.look()
		}
		if r.delays != nil && c.Op != zktest.OpPing {
			r.delays.Observe(c, r.runs()...)
		}
		if c.Op == zktest.OpPing || c.Op == zktest.OpSync && c.Path == "/" || c.Client == operator || time.Now().After(r.stop) {
			return zktest.Pass
		}
		action := scheduled(c)
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

// disturb runs a trouble.
func (r *jobRun) disturb(tr Trouble) {
	switch tr.What {
	case skewed:
		for _, ahead := range []time.Duration{tr.For, 0} {
			if !r.sleep(tr.At) {
				break
			}
			r.judge.setClock(ahead)
		}
	case operated:
		if r.sleep(tr.At) {
			r.operateJob(tr)
		}
	default:
		r.trouble(tr)
	}
}

// operateJob deletes contenders and records for a time.
func (r *jobRun) operateJob(tr Trouble) {
	c, err := framework.Connect(r.ctx, conformance.Config(r.server, operator))
	if err != nil {
		r.brokenf("P2: the operator could not connect: %v", err)
		return
	}
	defer func() { _ = c.Close() }()
	d := newDie(r.plan.Seed, 0x6f706a)
	for end := time.Now().Add(tr.For); time.Now().Before(end) && r.sleep(d.upTo(3*time.Second)); {
		var nodes []string
		for _, parent := range r.server.Children(path) {
			for _, child := range r.server.Children(path + "/" + parent) {
				nodes = append(nodes, path+"/"+parent+"/"+child)
			}
		}
		if len(nodes) == 0 {
			continue
		}
		node := nodes[d.IntN(len(nodes))]
		r.evict(node)
		_ = c.Delete(r.ctx, node, framework.AnyVersion)
	}
}

// watchJobs checks all leases again and again.
func (r *jobRun) watchJobs() {
	for r.sleep(487 * time.Millisecond) {
		r.referee.Look()
	}
}

// finish checks what is left.
func (r *jobRun) finish() {
	for _, st := range r.clients {
		r.closing(st)
		st.close()
	}
	r.server.SetClock(0)
	r.sweepAll()
	r.server.SetFaults(nil)
	r.eventually(func() bool { return len(r.server.Sessions()) == 0 })
	for _, s := range r.server.Sessions() {
		r.brokenf("P6: session of %s left, with %v", s.Client, s.Ephemeral)
	}
	for _, child := range r.server.Children(path) {
		left := r.server.Children(path + "/" + child)
		if r.plan.Delay > 0 {
			left = slices.DeleteFunc(left, func(name string) bool { return name == znode.LockDelayDir })
		}
		if child != znode.RecordsDir && len(left) > 0 {
			r.brokenf("P6: nodes left in %s: %v", child, left)
		}
	}
	if n := r.server.Watches(); n > 0 {
		r.brokenf("P6: %d watches left", n)
	}
	for _, wrong := range r.notified.Wrong() {
		r.brokenf("P6: observers were notified wrongly: %s", wrong)
	}
	for _, wrong := range r.referee.Faults() {
		r.brokenf("P5: %s", wrong)
	}
	if r.delays != nil {
		r.delays.CheckLeft(r.runs()...)
		for _, wrong := range r.delays.Faults() {
			r.brokenf("P6: %s", wrong)
		}
	}
	r.judge.conclude()
}

// sweepAll checks that all records go when they are old.
func (r *jobRun) sweepAll() {
	for _, retention := range []time.Duration{once.DefaultRetention, r.plan.shortest()} {
		<-time.After(10 * time.Minute)
		if err := r.doLast(fmt.Sprint("last ", retention), retention); err != nil {
			r.brokenf("P2: the last run with a retention of %v: %v", retention, err)
			return
		}
	}
	if left := r.server.Children(path + "/" + znode.RecordsDir); len(left) > 1 {
		r.brokenf("P2: old records were not removed: %v", left)
	}
}

// doLast does a run with a client of its own, and lets it sweep.
func (r *jobRun) doLast(key string, retention time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := framework.Connect(ctx, conformance.Config(r.server, "last"))
	if err != nil {
		return err
	}
	job := must(once.New(c, path, once.WithRetention(retention)))
	err = job.Do(ctx, key, func(context.Context, *lease.Lease) error { return nil })
	<-time.After(time.Second)
	return errors.Join(err, c.Close())
}
