package zktest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// Rule is a fault for requests of one kind below one path. [Server.On] makes it, its
// methods narrow it, and the first call of Cut, DropReply, Delay, Expire, Fail, Mute or
// Do activates it:
//
//	dropped := server.On(zktest.OpCreate, "/locks").Nth(2).After().Cut()
//	...
//	<-dropped.Fired()
//
// A rule fires once, unless it is [Rule.Always]. At most one rule fires at a call: the
// one that was activated first. The others count the call; one that was due fires at
// the next call that matches.
//
// An active rule of a server of [NewServer] fails the test if it has not fired by the
// end: without its fault the test has shown nothing. Mark a rule that need not fire as
// [Rule.Optional].
//
// The methods may be called concurrently. Narrowing an active rule affects later calls.
// The zero Rule is not usable.
type Rule struct {
	server *Server
	made   string // file and line
	fired  *signal.Signal

	mu        sync.Mutex
	op        Op
	prefix    string
	client    string
	anyClient bool
	phase     Phase
	nth       int
	always    bool
	optional  bool
	seen      int
	done      bool
	inForce   bool
	action    Action
}

// On makes a rule for requests of kind op, or [AnyOp], whose path begins with
// pathPrefix. It will fire before the request is applied, unless its methods say
// otherwise. A request counts whether or not it will succeed: on a new path "/lock/"
// also matches the first create of a contender, which finds no parent, so the one that
// succeeds is the second ([Rule.Nth]).
func (s *Server) On(op Op, pathPrefix string) *Rule {
	s.mustBeMade()
	r := &Rule{server: s, fired: signal.New(), op: op, prefix: pathPrefix, anyClient: true, nth: 1, phase: PhaseBeforeApply}
	if _, file, line, ok := runtime.Caller(1); ok {
		r.made = fmt.Sprintf("%s:%d", filepath.Base(file), line)
	}
	if op == OpConnect {
		r.phase = PhaseConnect
	}
	return r
}

// set changes the rule under its lock.
func (r *Rule) set(change func()) *Rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	return r
}

// Client narrows the rule to one client, as named by [Server.Dial].
func (r *Rule) Client(name string) *Rule {
	return r.set(func() { r.client, r.anyClient = name, false })
}

// Nth makes the rule fire at the nth call that matches, counted from 1 since the rule
// became active. Calls at which other rules fire count.
func (r *Rule) Nth(n int) *Rule { return r.set(func() { r.nth = n }) }

// Always makes the rule fire at every call that matches, from the nth on.
func (r *Rule) Always() *Rule { return r.set(func() { r.always = true }) }

// Optional keeps the rule from failing its test if it never fires: for tests in which
// the call may come or not, and for those that show that it does not come.
func (r *Rule) Optional() *Rule { return r.set(func() { r.optional = true }) }

// Before makes the rule fire before the request is applied. That is the default.
func (r *Rule) Before() *Rule {
	return r.set(func() {
		r.phase = PhaseBeforeApply
		if r.op == OpConnect {
			r.phase = PhaseConnect
		}
	})
}

// After makes the rule fire after the request has taken effect and before its reply is
// sent.
func (r *Rule) After() *Rule { return r.set(func() { r.phase = PhaseAfterApply }) }

// OnEvent makes the rule fire at watch events that such a request causes. The path is
// then that of the event.
func (r *Rule) OnEvent() *Rule { return r.set(func() { r.phase = PhaseEvent }) }

// Cut breaks the connection; see [CutConnection]. It activates the rule.
func (r *Rule) Cut() *Rule { return r.Do(CutConnection) }

// DropReply drops the reply, the event or, before the request is applied, the request;
// see the constant [DropReply]. It activates the rule.
func (r *Rule) DropReply() *Rule { return r.Do(DropReply) }

// Expire expires the session; see [ExpireSession]. It activates the rule.
func (r *Rule) Expire() *Rule { return r.Do(ExpireSession) }

// Mute makes the connection silent; see the constant [Mute]. It activates the rule.
func (r *Rule) Mute() *Rule { return r.Do(Mute) }

// Delay delays the request, the reply or the event; see the function [Delay]. It
// activates the rule.
func (r *Rule) Delay(d time.Duration) *Rule { return r.Do(Delay(d)) }

// Fail answers with an error; see the function [Fail]. It activates the rule.
func (r *Rule) Fail(code Code) *Rule { return r.Do(Fail(code)) }

// Do sets any action, and activates the rule.
func (r *Rule) Do(a Action) *Rule {
	if r.server == nil {
		panic("zktest: a Rule is made by Server.On")
	}
	r.mu.Lock()
	r.action = a
	first := !r.inForce
	r.inForce = true
	r.mu.Unlock()
	if first {
		f := r.server.faults
		f.mu.Lock()
		defer f.mu.Unlock()
		f.rule = append(f.rule[:len(f.rule):len(f.rule)], r)
		f.on.Store(true)
	}
	return r
}

// Fired returns a channel that is closed when the rule fires for the first time.
func (r *Rule) Fired() <-chan struct{} { return r.fired.Done() }

// Remove deactivates the rule.
func (r *Rule) Remove() {
	r.set(func() { r.done = true })
}

// fire counts a call and returns the rule's action, Pass if the rule does not fire.
// taken means that another rule fires at this call.
func (r *Rule) fire(call Call, taken bool) Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done || call.Phase != r.phase || !matches(r.op, r.prefix, &call) || !r.anyClient && r.client != call.Client {
		return Pass
	}
	if r.seen++; r.seen < r.nth || taken {
		return Pass
	}
	r.fired.Give()
	r.done = !r.always
	return r.action
}

// unused describes a rule that should have fired and has not. It is empty for any
// other.
func (r *Rule) unused() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fired.Given() || r.optional {
		return ""
	}
	whose := ""
	if !r.anyClient {
		whose = " of " + r.client
	}
	return fmt.Sprintf("the rule made at %s never fired: %s %s %s of %q%s, call %d (%d came)",
		r.made, r.action, r.phase, r.op, r.prefix, whose, r.nth, r.seen)
}

// failUnused fails a test for each rule that should have fired. A test that has failed
// already, or was skipped, may have ended before its faults.
func (s *Server) failUnused(tb testing.TB) {
	tb.Helper()
	if tb.Failed() || tb.Skipped() {
		return
	}
	s.faults.mu.Lock()
	rules := s.faults.rule
	s.faults.mu.Unlock()
	for _, r := range rules {
		if unused := r.unused(); unused != "" {
			tb.Errorf("zktest: %s", unused)
		}
	}
}
