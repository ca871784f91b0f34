package histories

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// shrinking is the real time for which shrink searches.
const shrinking = 40 * time.Second

// shrink searches for a smaller scenario that breaks the same invariant, and returns it
// with its report.
func shrink(t *testing.T, s Scenario, r Report) (Scenario, Report) {
	t.Helper()
	deadline := time.Now().Add(shrinking)
	for found := true; found; {
		found = false
		for _, tried := range smaller(s) {
			if time.Now().After(deadline) {
				return s, r
			}
			if report := tried.Run(t); alike(report, r) {
				s, r, found = tried, report, true
				break
			}
		}
	}
	return s, r
}

// alike tells whether two runs broke the same invariant.
func alike(a, b Report) bool {
	return len(a.Broken) > 0 && len(b.Broken) > 0 && invariant(a.Broken[0]) == invariant(b.Broken[0])
}

// invariant is the name of the broken invariant.
func invariant(broken string) string {
	for _, name := range []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "errors", "model"} {
		if strings.Contains(broken, name+":") {
			return name
		}
	}
	return broken
}

// smaller returns the smaller forms of a scenario, the smallest first.
func smaller(s Scenario) []Scenario {
	var all []Scenario
	add := func(change func(*Scenario)) {
		made := s
		made.Threads = slices.Clone(s.Threads)
		made.Troubles = slices.Clone(s.Troubles)
		made.Faults = slices.Clone(s.Faults)
		made.Deletes = slices.Clone(s.Deletes)
		made.Groups = slices.Clone(s.Groups)
		change(&made)
		all = append(all, made)
	}
	for i := range s.Threads {
		if len(s.Threads) > 1 {
			add(func(m *Scenario) { m.Threads = slices.Delete(m.Threads, i, i+1) })
		}
	}
	for i := range s.Troubles {
		add(func(m *Scenario) { m.Troubles = slices.Delete(m.Troubles, i, i+1) })
	}
	for i := range s.Faults {
		add(func(m *Scenario) { m.Faults = slices.Delete(m.Faults, i, i+1) })
	}
	for i := range s.Deletes {
		add(func(m *Scenario) { m.Deletes = slices.Delete(m.Deletes, i, i+1) })
	}
	for i := range s.Groups {
		add(func(m *Scenario) { m.Groups = slices.Delete(m.Groups, i, i+1) })
	}
	if s.Beside > 0 {
		add(func(m *Scenario) { m.Beside, m.Groups = 0, nil })
	}
	if s.Front > 0 {
		add(func(m *Scenario) { m.Front = 0 })
	}
	if s.Room > 0 {
		add(func(m *Scenario) { m.Room = 0 })
	}
	if s.MaxHold > 0 {
		add(func(m *Scenario) { m.MaxHold = 0 })
	}
	if s.MinHold > 0 {
		add(func(m *Scenario) { m.MinHold = 0 })
	}
	if s.Delay > 0 {
		add(func(m *Scenario) { m.Delay = 0 })
	}
	for i, th := range s.Threads {
		for _, steps := range smallerSteps(th.Steps) {
			if len(steps) > 0 {
				add(func(m *Scenario) { m.Threads[i].Steps = steps })
			}
		}
	}
	return all
}

// smallerSteps leaves out a step, or a part of one.
func smallerSteps(steps []Step) [][]Step {
	var all [][]Step
	for i, st := range steps {
		all = append(all, slices.Delete(slices.Clone(steps), i, i+1))
		for _, made := range simpler(st) {
			changed := slices.Clone(steps)
			changed[i] = made
			all = append(all, changed)
		}
	}
	return all
}

// simpler leaves out a part of a step.
func simpler(st Step) []Step {
	var all []Step
	add := func(differs bool, change func(*Step)) {
		if differs {
			made := st
			change(&made)
			all = append(all, made)
		}
	}
	for _, inner := range smallerSteps(st.Inner) {
		add(true, func(m *Step) { m.Inner = inner })
	}
	add(st.Cancel != 0, func(m *Step) { m.Cancel = 0 })
	add(st.Quit != 0, func(m *Step) { m.Quit = 0 })
	add(st.Confirm, func(m *Step) { m.Confirm = false })
	add(st.Abandon, func(m *Step) { m.Abandon = false })
	add(st.Detached, func(m *Step) { m.Detached = false })
	add(st.Write, func(m *Step) { m.Write = false })
	add(st.Late != "", func(m *Step) { m.Late, m.LateBy = "", 0 })
	add(st.Early, func(m *Step) { m.Early = false })
	add(st.Async, func(m *Step) { m.Async = false })
	add(st.Wait != lease.Forever && st.Do == Acquire, func(m *Step) { m.Wait = lease.Forever })
	add(st.Pause != 0, func(m *Step) { m.Pause = 0 })
	add(st.Hold > 10*time.Millisecond, func(m *Step) { m.Hold = (st.Hold / 2).Truncate(time.Millisecond) })
	return all
}
