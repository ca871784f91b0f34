package zktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Step is one fault of a [Schedule].
type Step struct {
	N      int    // as in Call.N
	Action Action // what to do at that call
}

// Schedule is a list of faults, for [Server.SetFaults]. With the seed of [WithStepper]
// it is all that is needed to repeat a failure; %#v prints it as Go.
type Schedule []Step

// RandomSchedule returns a schedule of up to n faults within the first calls calls,
// each one of actions. It depends on seed only.
func RandomSchedule(seed uint64, n, calls int, actions ...Action) Schedule {
	r := rand.New(rand.NewPCG(seed, 0x7363686564756c65))
	out := make(Schedule, 0, n)
	for range n {
		out = append(out, Step{N: 1 + r.IntN(calls), Action: actions[r.IntN(len(actions))]})
	}
	slices.SortStableFunc(out, func(a, b Step) int { return a.N - b.N })
	return slices.CompactFunc(out, func(a, b Step) bool { return a.N == b.N })
}

// Faults returns the function for [Server.SetFaults] that applies the schedule.
func (s Schedule) Faults() func(Call) Action {
	at := make(map[int]Action, len(s))
	for _, step := range s {
		at[step.N] = step.Action
	}
	return func(c Call) Action { return at[c.N] }
}

// Shrink reduces a schedule to the few faults that a failure needs. fails must run the
// test with a schedule and report whether it fails. Shrink removes faults, then
// shortens delays, and returns the smallest schedule that failed. If s itself does not
// fail it returns s.
func (s Schedule) Shrink(fails func(Schedule) bool) Schedule {
	best := slices.Clone(s)
	if !fails(best) {
		return best
	}
	for size := max(len(best)/2, 1); size >= 1; size /= 2 {
		for i := 0; i+size <= len(best); {
			if tried := slices.Delete(slices.Clone(best), i, i+size); fails(tried) {
				best = tried
				continue
			}
			i++
		}
	}
	for i := range best {
		for best[i].Action.kind() == kindDelay && best[i].Action.delay() > time.Millisecond {
			tried := slices.Clone(best)
			tried[i].Action = Delay(best[i].Action.delay() / 2)
			if !fails(tried) {
				break
			}
			best = tried
		}
	}
	return best
}

// String lists the faults.
func (s Schedule) String() string {
	parts := make([]string, len(s))
	for i, step := range s {
		parts[i] = fmt.Sprintf("at call %d %s", step.N, step.Action)
	}
	return strings.Join(parts, ", ")
}

// GoString returns the action as Go source, for %#v of a [Schedule].
func (a Action) GoString() string {
	switch a.kind() {
	case kindPass:
		return "zktest.Pass"
	case kindCut:
		return "zktest.CutConnection"
	case kindDropReply:
		return "zktest.DropReply"
	case kindExpire:
		return "zktest.ExpireSession"
	case kindMute:
		return "zktest.Mute"
	case kindFail:
		return fmt.Sprintf("zktest.Fail(%d)", int32(a.code()))
	case kindDelay:
		if d := a.delay(); d%time.Millisecond == 0 {
			return fmt.Sprintf("zktest.Delay(%d * time.Millisecond)", d/time.Millisecond)
		}
		return fmt.Sprintf("zktest.Delay(%d)", int64(a.delay()))
	}
	return fmt.Sprintf("zktest.Action(%d)", int64(a))
}
