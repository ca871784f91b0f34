package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// delayMismatches are rows about contenders with different delays.
var delayMismatches = timedRows{
	"another delay":                             otherDelays,
	"another delay after an end":                anotherDelayAfterAnEnd,
	"no delay, where one is stored":             noneObeys,
	"none before a delay":                       noneBeforeADelay,
	"the stored delay goes while another waits": storedDelayGoes,
}

// requireMismatch requires that a contender with one delay is refused where another one
// is stored, at once, and leaves nothing.
func requireMismatch(t *testing.T, w *World, with Timed, given, stored time.Duration) {
	t.Helper()
	a := with(Times{LockDelay: given}).New(w.Named("other"), path)
	leavesNothing(t, w, func() {
		for _, timeout := range []time.Duration{time.Minute, lease.Forever} {
			at := w.Start(a, timeout)
			require.False(t, at.Waiting(), "it does not wait")
			require.ErrorIs(t, at.Failed(), lease.ErrLockDelayMismatch)
			require.NotErrorIs(t, at.Err, lease.ErrTimeout)
			require.ErrorContains(t, at.Err, given.String()+" given, "+stored.String()+" stored")
		}
		now := w.Start(a, 0)
		require.Error(t, now.Failed(), "it may see only that the slot is taken")
	})
}

func otherDelays(t *testing.T, w *World, with Timed) {
	for _, delays := range [][2]time.Duration{{lockDelay, lockDelay + time.Second}, {time.Second, lockDelay}} {
		stored, given := delays[0], delays[1]
		r := with(Times{LockDelay: stored})
		held, _ := holders(w, r)
		waits := w.Start(r.New(w.Named("a"), path), lease.Forever)
		requireMismatch(t, w, with, given, stored)
		require.True(t, waits.Waiting())
		release(t, held...)
		release(t, waits.Granted())
		requireMismatch(t, w, with, given, stored)
		w.After(5 * time.Minute) // the servers remove what nobody uses
		held, _ = holders(w, with(Times{LockDelay: given}))
		release(t, held...)
		requireMismatch(t, w, with, stored, given)
		w.After(5 * time.Minute)
	}
}

// anotherDelayAfterAnEnd is about one that comes when nobody is there any more.
func anotherDelayAfterAnEnd(t *testing.T, w *World, with Timed) {
	killed(w, with(Times{LockDelay: lockDelay}))
	w.After(5 * time.Minute)
	requireMismatch(t, w, with, time.Second, lockDelay)
	require.ErrorIs(t, w.Start(with(Times{LockDelay: time.Second}).New(w.Named("other"), path), 0).Failed(), lease.ErrLockDelayMismatch)
}

// noneObeys has contenders without a delay come where others have one: they wait for
// it, and others wait for it after their ends.
func noneObeys(t *testing.T, w *World, with Timed) {
	r, plain := with(Times{LockDelay: lockDelay}), with(Times{})
	killed(w, r)
	w.After(time.Second)
	a := plain.New(w.Client("a"), path)
	require.ErrorIs(t, w.Start(a, 0).Failed(), lease.ErrLockDelay)
	begun := time.Now()
	release(t, w.requireGrantedAt(r, w.Start(a, lease.Forever), begun.Add(r.closedFor())))
	if r.Slots > 1 || r.Block != nil {
		return // others have ended
	}
	w.Start(a, time.Second).Granted()
	w.kill(w.Named("a"))
	b := w.Client("b")
	begun = time.Now()
	for _, next := range []Recipe{plain, r} {
		at := w.Start(next.New(b, path), lease.Forever)
		if begun.IsZero() {
			require.False(t, at.Waiting())
		} else {
			w.requireGrantedAt(r, at, begun.Add(r.closedFor()))
			begun = time.Time{}
		}
		release(t, at.Granted())
	}
	require.Empty(t, w.Records())
}

// noneBeforeADelay has a contender with a delay come behind some without. It waits for
// them, and they know of no delay.
func noneBeforeADelay(t *testing.T, w *World, with Timed) {
	r, plain := with(Times{LockDelay: lockDelay}), with(Times{})
	_, clients := holders(w, plain)
	waits := w.Start(plain.New(w.Client("a"), path), lease.Forever)
	require.True(t, waits.Waiting())
	delayed := w.Start(r.New(w.Client("b"), path), lease.Forever)
	require.True(t, delayed.Waiting())
	w.After(time.Second)
	w.kill(clients...)
	w.After(200 * time.Millisecond)
	require.False(t, waits.Waiting(), "no delay")
	release(t, waits.Granted())
	w.After(200 * time.Millisecond)
	require.False(t, delayed.Waiting())
	release(t, delayed.Granted())
	w.Settle()
	require.Empty(t, w.Records())
}

// storedDelayGoes has the empty container go while a contender with a delay waits. One
// without a delay comes then. Each is granted a slot, but those with a delay only where
// all others know of it: the first of them is killed, and nobody is granted its slot
// before the delay has passed.
func storedDelayGoes(t *testing.T, w *World, with Timed) {
	r, plain := with(Times{LockDelay: lockDelay}), with(Times{})
	if r.Spread {
		return
	}
	held, _ := holders(w, plain)
	operator := w.Client("operator")
	delayed := map[*Attempt]*framework.Client{}
	first := w.Start(r.New(w.Client("a"), path), lease.Forever)
	delayed[first] = w.Named("a")
	w.Remove(operator, path+r.Below+"/lock-delay")
	second := w.Start(plain.New(w.Client("b"), path), lease.Forever)
	third := w.Start(r.New(w.Client("c"), path), lease.Forever)
	delayed[third] = w.Named("c")
	release(t, held...)
	killed := false
	for waiting := []*Attempt{first, second, third}; len(waiting) > 0; {
		w.After(100 * time.Millisecond)
		granted := slices.DeleteFunc(slices.Clone(waiting), (*Attempt).Waiting)
		require.NotEmpty(t, granted, "none is granted it")
		require.True(t, len(granted) == 1 || r.Slots != 1 || r.Block != nil, "several are granted it")
		waiting = slices.DeleteFunc(waiting, func(at *Attempt) bool { return !at.Waiting() })
		for _, at := range granted {
			c := delayed[at]
			if c != nil {
				node := at.Granted().Path()
				require.Contains(t, w.Records(), strings.Replace(node, r.Below+"/_c_", r.Below+"/lock-delay/_c_", 1))
			}
			if c == nil || killed || len(waiting) == 0 || r.Slots != 1 {
				release(t, at.Granted())
				continue
			}
			killed = true
			w.kill(c)
			w.After(lockDelay - 10*time.Millisecond)
			for _, other := range waiting {
				require.True(t, other.Waiting(), "it knows of no delay")
			}
		}
	}
	w.Settle()
	require.Empty(t, w.Records())
}
