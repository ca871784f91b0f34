package zktest

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Phase is the moment of a [Call].
type Phase int8

// The phases.
const (
	PhaseConnect     Phase = iota // a client has asked for a session, or to resume one
	PhaseBeforeApply              // a request has arrived and has done nothing yet
	PhaseAfterApply               // a request, or a connect, has taken effect; its reply is not sent yet
	PhaseEvent                    // a watch event is about to be sent; Op is the request that caused it
	PhaseExpire                   // a session's timeout has passed
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

// Call is one moment at which a fault can act. See [Server.SetFaults].
type Call struct {
	N       int    // numbered from 1 since the last SetFaults
	Client  string // as named by Server.Dial, else the client's address
	Session int64  // 0 before there is a session
	Op      Op     // the kind of request
	Path    string // of the first part, for a multi; of the event, for an event
	Watch   bool   // the request sets a watch
	Phase   Phase  // when the fault would act
}

// String describes the call, without what differs from run to run.
func (c Call) String() string {
	return fmt.Sprintf("#%d %s %s %s %s", c.N, c.Client, c.Phase, c.Op, c.Path)
}

// Action is what a fault does: one of the constants [Pass], [CutConnection],
// [DropReply], [ExpireSession] and [Mute], or the result of [Delay] or [Fail]. Actions
// can be compared. The zero Action is Pass.
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

// The actions without a parameter.
const (
	// Pass does nothing.
	Pass Action = Action(kindPass)
	// CutConnection breaks the connection. Before a request is applied, the request
	// never is; afterwards its reply is dropped.
	CutConnection Action = Action(kindCut)
	// DropReply drops the reply or the event; before a request is applied it drops the
	// request. The connection stays, and later messages arrive. For requests and
	// replies that is like a server that hangs. But TCP never drops a single event, and
	// no client can notice it: use CutConnection, Mute or Delay for events.
	DropReply Action = Action(kindDropReply)
	// ExpireSession ends the session, and the connection with it.
	ExpireSession Action = Action(kindExpire)
	// Mute makes the connection silent for good: it stays open, but requests on it are
	// neither handled nor answered.
	Mute Action = Action(kindMute)
)

// Delay delays the request, the reply or the event, and all that follows on its
// connection in the same direction. At [PhaseExpire] it grants the session more time.
func Delay(d time.Duration) Action { return Action(d)<<kindBits | Action(kindDelay) }

// Fail answers with an error. Before a request is applied, the request never is;
// afterwards the answer is wrong, because the request has taken effect. At
// [PhaseConnect] it closes the connection. For events it does nothing.
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
	on   atomic.Bool // there are rules or a hook
	mu   sync.Mutex
	n    int
	hook func(Call) Action
	rule []*Rule
}

// armed reports whether faults can act at calls.
func (f *faults) armed() bool { return f.on.Load() }

// SetFaults sets a function that decides what happens at every [Call], nil for none. It
// is called without locks, on the goroutine that handles the request, and may call the
// server's methods. Without [WithStepper] it may be called concurrently. Rules of
// [Server.On] decide first. SetFaults starts the numbers of calls again.
func (s *Server) SetFaults(hook func(Call) Action) {
	f := s.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook, f.n = hook, 0
	f.on.Store(hook != nil || len(f.rule) > 0)
}

// ask returns what is to be done at a call.
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
		if a := r.fire(call, act != Pass); act == Pass {
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

// matches reports whether a rule is about a request.
func matches(op Op, prefix string, call *Call) bool {
	return (op == AnyOp || op == call.Op) && strings.HasPrefix(call.Path, prefix)
}
