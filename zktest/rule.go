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

// Rule is a fault for requests of one kind below one path. It is made by [Server.On],
// narrowed by its methods, and takes force with the first of Cut, DropReply, Delay,
// Expire, Fail, Mute and Do:
//
//	lost := server.On(zktest.OpCreate, "/locks").Nth(1).After().Cut()
//	...
//	<-lost.Fired()
//
// It strikes once unless told [Rule.Always]. At most one rule strikes at a call, the
// one that took force first; another that was due there counts the call and strikes at
// the next that fits. A rule that has not struck when the test is over fails the test,
// if the server was made by [NewServer]: what the test shows did not happen under the
// fault it is about. A rule that is not sure to strike is marked [Rule.Optional]. Its
// methods may be called concurrently, except that narrowing a rule that is in force
// changes it for calls to come only.
type Rule struct {
	server *Server
	made   string // file and line
	fired  *signal.Signal

	mu       sync.Mutex
	op       Op
	prefix   string
	client   string
	anyone   bool
	phase    Phase
	nth      int
	always   bool
	optional bool
	seen     int
	done     bool
	inForce  bool
	action   Action
}

// On begins a rule for requests of kind op, or [AnyOp], whose path begins with
// pathPrefix, before they are applied.
func (s *Server) On(op Op, pathPrefix string) *Rule {
	r := &Rule{server: s, fired: signal.New(), op: op, prefix: pathPrefix, anyone: true, nth: 1, phase: PhaseBeforeApply}
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
	return r.set(func() { r.client, r.anyone = name, false })
}

// Nth makes the rule wait for the nth call that fits, counted from 1 when the rule took
// force. Calls at which other rules strike count.
func (r *Rule) Nth(n int) *Rule { return r.set(func() { r.nth = n }) }

// Always makes the rule strike at every call that fits, from the nth on.
func (r *Rule) Always() *Rule { return r.set(func() { r.always = true }) }

// Optional keeps the rule from failing its test if it never strikes. It is for tests
// that show that a call never comes, that try more faults than there may be calls, or
// that leave to chance which call comes.
func (r *Rule) Optional() *Rule { return r.set(func() { r.optional = true }) }

// Before makes the rule strike before the request is applied, which it does anyway.
func (r *Rule) Before() *Rule {
	return r.set(func() {
		r.phase = PhaseBeforeApply
		if r.op == OpConnect {
			r.phase = PhaseConnect
		}
	})
}

// After makes the rule strike after the request was applied and before its reply is
// sent.
func (r *Rule) After() *Rule { return r.set(func() { r.phase = PhaseAfterApply }) }

// OnEvent makes the rule strike at watch events that such a request causes; the path is
// then the event's.
func (r *Rule) OnEvent() *Rule { return r.set(func() { r.phase = PhaseEvent }) }

// Cut ends the connection. See [CutConnection].
func (r *Rule) Cut() *Rule { return r.Do(CutConnection) }

// DropReply loses the reply, an event or, before the request is applied, the request,
// and nothing else on the connection, which for an event is what TCP never does. See
// [DropReply].
func (r *Rule) DropReply() *Rule { return r.Do(DropReply) }

// Expire ends the session. See [ExpireSession].
func (r *Rule) Expire() *Rule { return r.Do(ExpireSession) }

// Mute makes the connection silent. See [Mute].
func (r *Rule) Mute() *Rule { return r.Do(Mute) }

// Delay holds the request, the reply or the event up. See [Delay].
func (r *Rule) Delay(d time.Duration) *Rule { return r.Do(Delay(d)) }

// Fail answers with an error. See [Fail].
func (r *Rule) Fail(code Code) *Rule { return r.Do(Fail(code)) }

// Do takes any action, and puts the rule into force.
func (r *Rule) Do(a Action) *Rule {
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

// Fired returns a channel that is closed when the rule has struck for the first time.
func (r *Rule) Fired() <-chan struct{} { return r.fired.Done() }

// Remove takes the rule out of force.
func (r *Rule) Remove() {
	r.set(func() { r.done = true })
}

// strike counts a call and returns what the rule does at it, which is nothing if the
// call is another rule's.
func (r *Rule) strike(call Call, taken bool) Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done || call.Phase != r.phase || !matches(r.op, r.prefix, &call) || !r.anyone && r.client != call.Client {
		return Pass
	}
	if r.seen++; r.seen < r.nth || taken {
		return Pass
	}
	r.fired.Give()
	r.done = !r.always
	return r.action
}

// idle describes a rule that should have struck and has not, and is empty for any
// other.
func (r *Rule) idle() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fired.Given() || r.optional {
		return ""
	}
	whose := ""
	if !r.anyone {
		whose = " of " + r.client
	}
	return fmt.Sprintf("the rule made at %s never struck: %s %s %s of %q%s, call %d (%d came)",
		r.made, r.action, r.phase, r.op, r.prefix, whose, r.nth, r.seen)
}

// failIdle fails a test for each rule that should have struck in it. A test that has
// failed already, or was skipped, may have ended before its faults.
func (s *Server) failIdle(tb testing.TB) {
	tb.Helper()
	if tb.Failed() || tb.Skipped() {
		return
	}
	s.faults.mu.Lock()
	rules := s.faults.rule
	s.faults.mu.Unlock()
	for _, r := range rules {
		if idle := r.idle(); idle != "" {
			tb.Errorf("zktest: %s", idle)
		}
	}
}
