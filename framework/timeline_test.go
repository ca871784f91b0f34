package framework

import (
	"fmt"
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
	assert.Equal(t, StateChange{State: Connected, Session: 2}, line.present().change)
	line.add(StateChange{State: Closed})
	for _, state := range []State{Connecting, Connected, Suspended, Lost, Closed} {
		line.add(StateChange{State: state, Session: 2})
	}
	assert.Equal(t, Closed, line.present().change.State)
}

func TestTimelineKeepsEveryTransitionBehindOneThatIsHeld(t *testing.T) {
	t.Parallel()
	line := newTimeline()
	m := line.present()
	for i := range int64(1000) {
		line.add(StateChange{State: Connected, Session: i + 1})
		line.add(StateChange{State: Lost, Session: i + 1})
	}
	n := 0
	for ; m != line.present(); m = m.next {
		<-m.ready
		n++
	}
	assert.Equal(t, 2000, n)
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
