package framework

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLegalTransitions(t *testing.T) {
	t.Parallel()
	type step struct {
		state   State
		session int64
	}
	allowed := map[[2]step]bool{
		{{Connecting, 0}, {Connected, 1}}: true,
		{{Connecting, 0}, {Connected, 2}}: true,
		{{Connected, 1}, {Suspended, 1}}:  true,
		{{Connected, 1}, {Lost, 1}}:       true,
		{{Suspended, 1}, {Connected, 1}}:  true,
		{{Suspended, 1}, {Lost, 1}}:       true,
		{{Lost, 1}, {Connected, 2}}:       true,
		{{Connecting, 0}, {Closed, 0}}:    true,
		{{Connected, 1}, {Closed, 0}}:     true,
		{{Suspended, 1}, {Closed, 0}}:     true,
		{{Lost, 1}, {Closed, 0}}:          true,
	}
	tried := 0
	for _, from := range []step{{Connecting, 0}, {Connected, 1}, {Suspended, 1}, {Lost, 1}, {Closed, 0}} {
		for _, to := range []step{
			{Connecting, 0}, {Connected, 1}, {Connected, 2}, {Suspended, 1}, {Suspended, 2}, {Lost, 1}, {Lost, 2}, {Closed, 0},
		} {
			got := legal(StateChange{State: from.state, Session: from.session}, StateChange{State: to.state, Session: to.session})
			assert.Equal(t, allowed[[2]step{from, to}], got, fmt.Sprint(from, " to ", to))
			tried++
		}
	}
	assert.Equal(t, 40, tried)
}

// CURATOR-525: what is still said about a session that is over changes nothing.
func TestTimelineIgnoresReportsOfAnOlderSession(t *testing.T) {
	t.Parallel()
	line := newTimeline()
	for _, change := range []StateChange{
		{State: Connected, Session: 1}, {State: Lost, Session: 1},
		{State: Suspended, Session: 1}, {State: Connected, Session: 1}, // too late
		{State: Connected, Session: 2},
		{State: Suspended, Session: 1}, {State: Lost, Session: 1}, {State: Connected, Session: 1}, // far too late
	} {
		line.add(change)
	}
	assert.Equal(t, StateChange{State: Connected, Session: 2}, stateOf(line))
	line.add(StateChange{State: Closed})
	for _, state := range []State{Connecting, Connected, Suspended, Lost, Closed} {
		line.add(StateChange{State: state, Session: 2})
	}
	assert.Equal(t, Closed, stateOf(line).State)
}

func TestTimelineKeepsEveryTransitionBehindOneThatIsHeld(t *testing.T) {
	t.Parallel()
	line := newTimeline()
	_, m := line.present()
	for i := range int64(1000) {
		line.add(StateChange{State: Connected, Session: i + 1})
		line.add(StateChange{State: Lost, Session: i + 1})
	}
	n := 0
	line.add(StateChange{State: Closed})
	for range m.later(t.Context()) {
		n++
	}
	assert.Equal(t, 2001, n)
}

func TestNamesOfStatesOutcomesModesAndEvents(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, v := range []fmt.Stringer{
		Connecting, Connected, Suspended, Lost, Closed, State(-1), Done, Failed, Unknown, Outcome(-1),
		Persistent, PersistentSequential, Ephemeral, EphemeralSequential, Container, Mode(-1),
		EventCreated, EventDeleted, EventDataChanged, EventChildrenChanged, EventRecheck, EventSessionEnded, EventType(-1),
	} {
		assert.NotEmpty(t, v.String())
		assert.False(t, seen[v.String()], "%s is used twice", v)
		seen[v.String()] = true
	}
}

func stateOf(line *timeline) StateChange {
	state, _ := line.present()
	return state
}

// The client is as badly off as the worst session that holds something, and each loss
// is told.
func TestTimelineOfSeveralSessions(t *testing.T) {
	t.Parallel()
	const holds = true
	main := func(state State, session int64) func(*timeline) {
		return func(line *timeline) { line.add(StateChange{State: state, Session: session}) }
	}
	further := func(state State, session int64, holds bool) func(*timeline) {
		return func(line *timeline) { line.addFurther(StateChange{State: state, Session: session}, holds) }
	}
	for name, c := range map[string]struct {
		steps []func(*timeline)
		want  string
	}{
		"a further one is attached again": {
			[]func(*timeline){further(Connected, 2, false), further(Suspended, 2, holds), further(Connected, 2, holds)},
			"suspended 2, connected 1",
		},
		"a further one is lost": {
			[]func(*timeline){further(Connected, 2, false), further(Suspended, 2, holds), further(Lost, 2, !holds)},
			"suspended 2, lost 2, connected 1",
		},
		"a further one is lost at once": {
			[]func(*timeline){further(Connected, 2, false), further(Lost, 2, holds)},
			"lost 2, connected 1",
		},
		"one that holds nothing": {
			[]func(*timeline){further(Connected, 2, false), further(Suspended, 2, !holds), further(Lost, 2, !holds)},
			"",
		},
		"both are suspended, the main one first": {
			[]func(*timeline){further(Connected, 2, false), main(Suspended, 1), further(Suspended, 2, holds), main(Connected, 1), further(Connected, 2, holds)},
			"suspended 1, connected 1",
		},
		"both are suspended, a further one first": {
			[]func(*timeline){further(Connected, 2, false), further(Suspended, 2, holds), main(Suspended, 1), further(Connected, 2, holds), main(Connected, 1)},
			"suspended 2, connected 1",
		},
		"both are lost": {
			[]func(*timeline){further(Connected, 2, false), main(Suspended, 1), further(Suspended, 2, holds), main(Lost, 1), further(Lost, 2, holds), main(Connected, 3)},
			"suspended 1, lost 1, lost 2, connected 3",
		},
		"the next main one comes while a further one is suspended": {
			[]func(*timeline){further(Connected, 2, false), further(Suspended, 2, holds), main(Suspended, 1), main(Lost, 1), main(Connected, 3), further(Connected, 2, holds)},
			"suspended 2, lost 1, suspended 2, connected 3",
		},
		"a further one is lost while the main one is suspended": {
			[]func(*timeline){further(Connected, 2, false), main(Suspended, 1), further(Suspended, 2, holds), further(Lost, 2, holds)},
			"suspended 1, lost 2, suspended 1",
		},
		"late reports about one that is lost": {
			[]func(*timeline){further(Connected, 2, false), further(Lost, 2, holds), further(Suspended, 2, holds), further(Lost, 2, holds)},
			"lost 2, connected 1",
		},
		"late reports about one that was not used": {
			[]func(*timeline){
				further(Connected, 2, false), func(line *timeline) { line.forget(2) }, further(Suspended, 2, holds), further(Lost, 2, holds),
			},
			"",
		},
		"one that is suspended is closed because it is not used any more": {
			[]func(*timeline){further(Connected, 2, false), further(Suspended, 2, holds), func(line *timeline) { line.forget(2) }},
			"suspended 2, connected 1",
		},
		"closed": {
			[]func(*timeline){further(Connected, 2, false), further(Suspended, 2, holds), main(Closed, 0), further(Lost, 2, holds)},
			"suspended 2, closed 0",
		},
	} {
		line := newTimeline()
		main(Connected, 1)(line)
		_, begun := line.present()
		for _, step := range c.steps {
			step(line)
		}
		end := stateOf(line)
		line.add(StateChange{State: Closed})
		var told []string
		for t := range begun.later(t.Context()) {
			if t.client && t.change.State != Closed || strings.HasSuffix(c.want, "closed 0") && t.client {
				told = append(told, fmt.Sprint(t.change.State, " ", t.change.Session))
			}
		}
		assert.Equal(t, c.want, strings.Join(told, ", "), name)
		if len(told) > 0 {
			assert.Equal(t, told[len(told)-1], fmt.Sprint(end.State, " ", end.Session), name)
		}
	}
}
