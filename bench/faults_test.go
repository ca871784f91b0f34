package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The next holder comes after each fault. What the old one does is known: a lease and
// the state of the connection tell it, a Lock does not.
func TestFaults(t *testing.T) {
	some, err := choose(capable(systems), "ours,gozk,gozk-state", system.String)
	require.NoError(t, err)
	const session = 5 * time.Second // so that a machine which stands still for a second loses none
	r := quick(t, zktest.WithSessionTimeouts(session, time.Minute))
	for _, f := range faults[:3] { // the last needs a Redis
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			trials, err := r.faultRound(t.Context(), f, some, session, 0)
			require.NoError(t, err)
			for i, s := range some {
				one := trials[i]
				require.NoError(t, one.err, s.name)
				assert.NotZero(t, one.next, s.name)
				if f == killed {
					continue
				}
				assert.Greater(t, one.back, one.next, s.name)
				assert.NotZero(t, one.last, s.name)
				assert.Equal(t, s.name == "gozk", one.knew == 0, s.name)
				if s.name == "gozk" {
					assert.Positive(t, one.late)
				}
			}
			// A process may be stopped between its look at the lease and its write.
			assert.LessOrEqual(t, trials[0].late, 1)
		})
	}
}

func TestFaultTable(t *testing.T) {
	ms := func(n int64) int64 { return n * 1e6 }
	good := trial{fault: ms(1000), next: ms(5000), back: ms(7000), last: ms(3000), knew: ms(3001)}
	slow := trial{fault: ms(1000), next: ms(5000), back: ms(7000), last: ms(7500), knew: ms(7502), late: 9}
	stands := trial{fault: ms(1000), next: ms(5000), back: ms(7000), last: ms(1000), knew: ms(7100)}
	deaf := trial{fault: ms(1000), next: ms(5000), back: ms(7000), last: ms(9000), late: 90}
	alone := trial{fault: ms(1000), back: ms(7000), last: ms(9000)}
	for _, row := range []struct {
		f      fault
		trials []trial
		want   string
	}{
		{killed, []trial{good, good}, "4.000 s|(4.000 s..4.000 s)"},
		{cutOff, []trial{good}, "4.000 s|(4.000 s..4.000 s)|2.00 s|(2.00 s..2.00 s)|-2.00 s|(-2.00 s..-2.00 s)|while cut off"},
		{cutOff, []trial{slow}, "4.000 s|(4.000 s..4.000 s)|6.50 s|(6.50 s..6.50 s)|+2.50 s|(+2.50 s..+2.50 s)|when the network is back"},
		{cutOff, []trial{stands}, "4.000 s|(4.000 s..4.000 s)|0.00 s|(0.00 s..0.00 s)|-4.00 s|(-4.00 s..-4.00 s)|when the network is back"},
		{cutOff, []trial{deaf}, "4.000 s|(4.000 s..4.000 s)|goes on||for ever||never"},
		{cutOff, []trial{good, slow, deaf}, "4.000 s|(4.000 s..4.000 s)|4.25 s|(2.00 s..6.50 s) goes on in 1|+0.25 s|" +
			"(-2.00 s..+2.50 s) for ever in 1|while cut off in 1, later in 1, never in 1"},
		{failover, []trial{slow}, "4.000 s|(4.000 s..4.000 s)|6.50 s|(6.50 s..6.50 s)|+2.50 s|(+2.50 s..+2.50 s)"},
		{frozen, []trial{slow}, "4.000 s|(4.000 s..4.000 s)|502.0 ms|(502.0 ms..502.0 ms)|9|(9..9)"},
		{frozen, []trial{deaf}, "4.000 s|(4.000 s..4.000 s)|never||goes on|"},
		{frozen, []trial{alone}, "not meanwhile||never||-|"},
		{frozen, []trial{slow, deaf, alone}, "4.000 s|(4.000 s..4.000 s) not meanwhile in 1|502.0 ms|(502.0 ms..502.0 ms) never in 2|9|(9..9) goes on in 1"},
		{killed, []trial{good, {err: errors.New("no")}}, "4.000 s|(4.000 s..4.000 s)|1 rounds failed: no"},
	} {
		assert.Equal(t, row.want, strings.Join(faultCells(row.f, row.trials), "|"), "%s", row.f)
	}
	var out bytes.Buffer
	require.NoError(t, tabulateFault(&out, killed, systems[1:2], map[string][]trial{"ours": {good}}, time.Second, 1))
	assert.Contains(t, out.String(), "ours")
}
