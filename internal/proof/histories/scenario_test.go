package histories

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A Scenario is a program for several threads, on one path of one recipe, with faults.
type Scenario struct {
	Recipe   string          // the name of a subject
	Seed     uint64          // orders what happens at the same moment
	Threads  []Thread        // the programs
	Faults   zktest.Schedule // strike at calls, numbered as in faultsweep
	Troubles []Trouble       // strike at times
	Deletes  zktest.Schedule // strike at deletes, which have numbers of their own
	Beside   int             // callers of each client beside the threads, so that calls travel in groups
	Groups   zktest.Schedule // strike at groups, which have numbers of their own
	Room     int             // MaxEphemeralBytes, so that a client needs several sessions; 0 is the default
	Front    int             // how many contenders of a client belong to the front of its crowd; 0 is the default
	MaxHold  time.Duration   // of each lease; 0 is no limit
	MinHold  time.Duration   // of each lease
	Delay    time.Duration   // the lock-delay; 0 is none
}

// A Thread does its steps, one after the other, through one client. Several threads may
// share a client.
type Thread struct {
	Client int
	Steps  []Step
}

// A Step is one thing that a thread does. Most acquire something and hold it.
type Step struct {
	Do       Verb          // what; "" is to acquire
	Side     string        // of a read-write lock
	N        int           // permits, or a size
	Pause    time.Duration // before it
	Wait     time.Duration // the timeout of the acquire
	Cancel   time.Duration // after which the context ends; 0 is never
	Quit     time.Duration // after which the client is closed; 0 is never
	Hold     time.Duration // how long it is held
	Confirm  bool          // in the middle of the hold
	Early    bool          // release the outer lease once this one is granted
	Abandon  bool          // close the client instead of releasing
	Async    bool          // release without waiting for the answer
	Detached bool          // with the outer lease's context, but without its end
	Write    bool          // at the grant, with the lease's Check, and then read
	Late     string        // write about when it is released: see late
	LateBy   time.Duration // how much later than the release; negative is earlier
	Inner    []Step        // in the middle of the hold, with the lease's context
}

// A Verb is what a step does, other than to acquire.
type Verb string

// The verbs.
const (
	Acquire   Verb = ""          // and hold, and release
	Look      Verb = "Look"      // ask who holds or leads, or how much is free
	Resize    Verb = "Resize"    // of a semaphore
	Campaign  Verb = "Campaign"  // Lead for some time
	Observing Verb = "Observing" // to the end of the run
	Name      Verb = "Name"      // the next leader
)

// A Trouble is a fault that strikes at a time.
type Trouble struct {
	What   string        // one of the kinds below
	Client string        // "" is all clients
	At     time.Duration // after the start
	For    time.Duration // how long, for those that last
}

// The kinds of troubles. The last one happens on no server by itself: it ends the
// session of a client that is alive.
const (
	partitioned = "partition"
	stalled     = "stall"
	refused     = "refuse"
	lagging     = "lag"
	paused      = "pause"
	restarted   = "restart"
	dropped     = "drop"
	cutOff      = "cut off" // left with a leader without a quorum
	operated    = "operate" // an operator deletes contenders
	expired     = "expire"
)

// holds is the time of all steps, one after the other.
func holds(steps []Step) time.Duration {
	var d time.Duration
	for _, st := range steps {
		d += st.Hold + st.Pause + holds(st.Inner)
	}
	return d
}

// String returns the scenario as Go source.
func (s Scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Scenario{Recipe: %q, Seed: %d,", s.Recipe, s.Seed)
	if len(s.Faults) > 0 {
		b.WriteString("\n\tFaults: zktest.Schedule{")
		for _, f := range s.Faults {
			fmt.Fprintf(&b, "{N: %d, Action: %#v}, ", f.N, f.Action)
		}
		b.WriteString("},")
	}
	if len(s.Deletes) > 0 {
		b.WriteString("\n\tDeletes: zktest.Schedule{")
		for _, f := range s.Deletes {
			fmt.Fprintf(&b, "{N: %d, Action: %#v}, ", f.N, f.Action)
		}
		b.WriteString("},")
	}
	if s.Beside > 0 {
		fmt.Fprintf(&b, "\n\tBeside: %d,", s.Beside)
	}
	if len(s.Groups) > 0 {
		b.WriteString("\n\tGroups: zktest.Schedule{")
		for _, f := range s.Groups {
			fmt.Fprintf(&b, "{N: %d, Action: %#v}, ", f.N, f.Action)
		}
		b.WriteString("},")
	}
	if s.Front > 0 {
		fmt.Fprintf(&b, "\n\tFront: %d,", s.Front)
	}
	if s.Room > 0 {
		fmt.Fprintf(&b, "\n\tRoom: %d,", s.Room)
	}
	if s.MaxHold > 0 {
		fmt.Fprintf(&b, "\n\tMaxHold: %d,", s.MaxHold)
	}
	if s.MinHold > 0 {
		fmt.Fprintf(&b, "\n\tMinHold: %d,", s.MinHold)
	}
	if s.Delay > 0 {
		fmt.Fprintf(&b, "\n\tDelay: %d,", s.Delay)
	}
	if len(s.Troubles) > 0 {
		b.WriteString("\n\tTroubles: []Trouble{")
		for _, tr := range s.Troubles {
			fmt.Fprintf(&b, "{What: %q, Client: %q, At: %d, For: %d}, ", tr.What, tr.Client, tr.At, tr.For)
		}
		b.WriteString("},")
	}
	b.WriteString("\n\tThreads: []Thread{\n")
	for _, th := range s.Threads {
		fmt.Fprintf(&b, "\t\t{Client: %d, Steps: %v},\n", th.Client, source(th.Steps))
	}
	b.WriteString("\t}}")
	return b.String()
}

func source(steps []Step) string {
	parts := make([]string, len(steps))
	for i, st := range steps {
		parts[i] = st.String()
	}
	return "[]Step{" + strings.Join(parts, ", ") + "}"
}

// String returns the step as Go source, without fields that are zero.
func (st Step) String() string {
	var parts []string
	add := func(set bool, format string, value any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add(st.Do != Acquire, "Do: %s", st.Do)
	add(st.Side != "", "Side: %q", st.Side)
	add(st.N != 0, "N: %d", st.N)
	add(st.Pause != 0, "Pause: %d", st.Pause)
	if st.Wait == lease.Forever {
		parts = append(parts, "Wait: lease.Forever")
	} else {
		add(st.Wait != 0, "Wait: %d", st.Wait)
	}
	add(st.Cancel != 0, "Cancel: %d", st.Cancel)
	add(st.Quit != 0, "Quit: %d", st.Quit)
	add(st.Hold != 0, "Hold: %d", st.Hold)
	add(st.Confirm, "Confirm: %v", true)
	add(st.Early, "Early: %v", true)
	add(st.Async, "Async: %v", true)
	add(st.Detached, "Detached: %v", true)
	add(st.Abandon, "Abandon: %v", true)
	add(st.Write, "Write: %v", true)
	add(st.Late != "", "Late: %q", st.Late)
	add(st.LateBy != 0, "LateBy: %d", st.LateBy)
	if len(st.Inner) > 0 {
		parts = append(parts, "Inner: "+source(st.Inner))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
