package zktest

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Phase is the moment at which faults are asked about a [Call].
type Phase int8

// The phases.
const (
	PhaseConnect     Phase = iota // a client has asked for a session, or to resume one
	PhaseBeforeApply              // a request has arrived and has done nothing yet
	PhaseAfterApply               // a request, or a connect, has taken effect and its reply has not been sent
	PhaseEvent                    // a watch event is about to be sent; Op is the request that caused it
	PhaseExpire                   // a session's time is up
)

// String names the phase.
func (p Phase) String() string {
	switch p {
	case PhaseConnect:
		return "connect"
	case PhaseBeforeApply:
		return "before"
	case PhaseAfterApply:
		return "after"
	case PhaseEvent:
		return "event"
	case PhaseExpire:
		return "expire"
	}
	return fmt.Sprintf("phase%d", int(p))
}

// Call is one moment at which a fault can strike.
type Call struct {
	N       int    // the calls are numbered from 1 since the last SetFaults
	Client  string // as named by Server.Dial, else the client's address
	Session int64  // 0 before there is one
	Op      Op     // what is asked for
	Path    string // of the first part, for a multi; of the event, for an event
	Watch   bool   // the request sets a watch
	Phase   Phase  // when the fault would strike
}

// String says what the call is about, without what differs from run to run.
func (c Call) String() string {
	return fmt.Sprintf("#%d %s %s %s %s", c.N, c.Client, c.Phase, c.Op, c.Path)
}

// Action is what a fault does. It is a plain value that can be compared and is made by
// the constants and functions below.
type Action int64

type actionKind int8

const (
	kindPass actionKind = iota
	kindCut
	kindDropReply
	kindDelay
	kindExpire
	kindFail
	kindMute
	kindBits = 3
)

// The actions that need no number.
const (
	// Pass does nothing.
	Pass Action = Action(kindPass)
	// CutConnection ends the connection; before a request is applied it never is, after
	// that its reply is lost.
	CutConnection Action = Action(kindCut)
	// DropReply loses the reply, or the event. Before a request is applied it loses the
	// request. The connection stays, and what comes later on it arrives. TCP never does
	// that to one message out of a stream: for a request or a reply it is as good as a
	// server that has hung, but a client that misses an event on a connection that
	// lives on has no way to notice. Use CutConnection, Mute or Delay for what a
	// network does to events.
	DropReply Action = Action(kindDropReply)
	// ExpireSession ends the session, and the connection with it.
	ExpireSession Action = Action(kindExpire)
	// Mute makes the connection silent for good: it stays, but nothing it says is heard
	// and nothing is answered.
	Mute Action = Action(kindMute)
)

// Delay holds up the request, the reply or the event, and on its connection all that
// comes after in the same direction. At [PhaseExpire] it grants the session more time.
func Delay(d time.Duration) Action { return Action(d)<<kindBits | Action(kindDelay) }

// Fail makes the server answer with an error. Before a request is applied it never is;
// after that the answer is a lie. At [PhaseConnect] it hangs up. Events cannot fail.
func Fail(code Code) Action { return Action(code)<<kindBits | Action(kindFail) }

func (a Action) kind() actionKind     { return actionKind(a & (1<<kindBits - 1)) }
func (a Action) delay() time.Duration { return time.Duration(a >> kindBits) }
func (a Action) code() Code           { return Code(a >> kindBits) }

// String names the action.
func (a Action) String() string {
	switch a.kind() {
	case kindPass:
		return "pass"
	case kindCut:
		return "cut the connection"
	case kindDropReply:
		return "drop the reply"
	case kindDelay:
		return "delay by " + a.delay().String()
	case kindExpire:
		return "expire the session"
	case kindFail:
		return "fail with " + a.code().String()
	case kindMute:
		return "mute the connection"
	}
	return fmt.Sprintf("action%d", int64(a))
}

// faults decides what happens at each call.
type faults struct {
	on   atomic.Bool // there is something to ask
	mu   sync.Mutex
	n    int
	hook func(Call) Action
	rule []*Rule
}

// armed tells whether calls have to be asked about.
func (f *faults) armed() bool { return f.on.Load() }

// SetFaults makes the server ask a function what to do at every [Call], nil for none.
// The function is called without locks held, on the goroutine that serves the request,
// so it may call the server's methods; it may be called concurrently unless there is a
// stepper. Rules made by [Server.On] are asked first. The numbers of calls begin anew.
func (s *Server) SetFaults(hook func(Call) Action) {
	f := s.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook, f.n = hook, 0
	f.on.Store(hook != nil || len(f.rule) > 0)
}

// ask finds out what is to be done at a call.
func (s *Server) ask(call Call) Action {
	f := s.faults
	if !f.armed() {
		return Pass
	}
	f.mu.Lock()
	f.n++
	call.N = f.n
	hook, rules := f.hook, f.rule
	f.mu.Unlock()
	act := Pass
	for _, r := range rules { // all of them count
		if a := r.strike(call, act != Pass); act == Pass {
			act = a
		}
	}
	if act == Pass && hook != nil {
		act = hook(call)
	}
	if act != Pass {
		s.mu.Lock()
		s.recordLocked(Event{
			Client: call.Client, Session: call.Session, Op: call.Op, Path: call.Path, Watch: call.Watch,
			Phase: call.Phase, Action: act, Zxid: s.zxid,
		})
		s.mu.Unlock()
	}
	return act
}

// matches tells whether a request is one that a rule is about.
func matches(op Op, prefix string, call *Call) bool {
	return (op == AnyOp || op == call.Op) && strings.HasPrefix(call.Path, prefix)
}
