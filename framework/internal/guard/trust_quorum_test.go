package guard

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A leader that is cut off from its quorum still answers syncs until it notices. The
// other servers may have a new leader at once, whose clock for the session begins with
// its term.
func TestTrustWhileADeposedLeaderAnswersSyncs(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{10 * time.Second, 15 * time.Second, 40 * time.Second} { // of ticks of 2 s
		const noticed = 12 * time.Second // syncLimit 5, and its next look
		start, rtt := time.Now(), time.Millisecond
		var tr trust
		tr.begin(start, start.Add(rtt), timeout)
		require.True(t, tr.rely(start.Add(rtt)))
		term := 20 * time.Second
		for at := timeout / 12; at < term+noticed; at += timeout / 12 {
			tr.answer(start.Add(at), start.Add(at+rtt), true)
			if at <= term {
				tr.committed(start.Add(at), start.Add(at+rtt))
			}
		}
		assert.LessOrEqual(t, tr.until().Sub(start)+stopMargin(timeout), term+timeout)
	}
}

// A leader that stood still while the other servers elected another revalidates the
// session in its first tick afterwards, however long ago it was deposed.
func TestTrustWhenAPausedLeaderRevalidates(t *testing.T) {
	t.Parallel()
	const timeout = 40 * time.Second
	start, rtt := time.Now(), time.Millisecond
	var tr trust
	tr.begin(start, start.Add(rtt), timeout)
	require.True(t, tr.rely(start.Add(rtt)))
	pause := 60 * time.Second
	for i := 1; i <= 6*37; i++ { // reads as well, as a program that uses its session makes
		at := time.Duration(i) * pause / (6 * 37)
		tr.answer(start.Add(at), start.Add(at+rtt), i%12 == 0 || i == 6*37)
		tr.committed(start.Add(at), start.Add(at+rtt))
	}
	back := tr.until().Sub(start) - 100*time.Millisecond // the last moment at which it is still trusted
	tr.begin(start.Add(back), start.Add(back+rtt), timeout)
	term := pause + time.Second // tickTime=200 syncLimit=4
	assert.LessOrEqual(t, tr.until().Sub(start)+stopMargin(timeout), term+timeout)
}

// Only a commit by a quorum moves Q, and Q counts only while work relies on the
// session.
func TestTrustIsThatOfTheOlderProof(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	window := trustWindow(sessionLength)
	var tr trust
	tr.begin(at(0), at(0), sessionLength)
	tr.begin(at(4), at(4), sessionLength)
	assert.Equal(t, at(4).Add(window), tr.until(), "nothing relies on it")

	require.True(t, tr.rely(at(4.4)), "the handshake that made it is young enough")
	assert.Equal(t, at(0).Add(window), tr.until(), "one that revalidates it does not count")
	tr.answer(at(4.5), at(4.5), true)
	assert.Equal(t, at(0).Add(window), tr.until(), "nor does a sync")
	tr.committed(at(3), at(4.6))
	assert.Equal(t, at(3).Add(window), tr.until())
	tr.committed(at(2), at(4.7))
	assert.Equal(t, at(3).Add(window), tr.until(), "it never goes back")
	tr.committed(at(5), at(5))
	assert.Equal(t, at(4).Add(window), tr.until(), "the leader of that epoch has a clock, too")

	tr.begin(at(7), at(7), sessionLength)
	require.True(t, tr.rely(at(7)))
	tr.leave(at(7))
	assert.Equal(t, at(5).Add(window), tr.until(), "something still relies on it")
	tr.leave(at(7))
	assert.Equal(t, at(7).Add(window), tr.until())

	assert.True(t, tr.rely(at(9.4)))
	tr.leave(at(9.4))
	assert.False(t, tr.rely(at(9.5)), "half a timeout is too old")
	assert.Equal(t, at(7).Add(window), tr.until(), "and then nothing is changed")
}

func TestTrustGoesByTheLeastTimeout(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	const long, least, other = 40 * time.Second, 10 * time.Second, 20 * time.Second
	for _, granted := range [][]time.Duration{{long, least, other}, {long, other, least}, {least, long, other}} {
		var tr trust
		for i, timeout := range granted {
			tr.begin(at(float64(i)), at(float64(i)), timeout)
		}
		assert.Equal(t, at(2).Add(trustWindow(least)), tr.until())
		require.True(t, tr.rely(at(2)))
		assert.Equal(t, at(0).Add(trustWindow(least)), tr.until())
	}
}

// The deadline stays where it was reached, whatever comes first after it, also a
// handshake, and whether or not a call has checked the clock.
func TestTrustDeadlineThatWasReachedStays(t *testing.T) {
	t.Parallel()
	window := trustWindow(sessionLength)
	const half = sessionLength / 2
	for name, late := range map[string]func(tr *trust, now time.Time){
		"handshake":   func(tr *trust, now time.Time) { tr.begin(now, now, sessionLength) },
		"longer":      func(tr *trust, now time.Time) { tr.begin(now, now, 2*sessionLength) },
		"transaction": func(tr *trust, now time.Time) { tr.committed(now, now) },
		"release":     func(tr *trust, now time.Time) { tr.leave(now) },
		"grant":       func(tr *trust, now time.Time) { assert.False(t, tr.rely(now)) },
		"round trips": func(tr *trust, now time.Time) {
			for i := range 10 {
				sent := now.Add(-time.Duration(9-i) * sessionLength / 12)
				tr.answer(sent, sent, true)
			}
		},
	} {
		for _, reached := range []bool{false, true} {
			begun := time.Now()
			var tr trust
			tr.begin(begun, begun, sessionLength)
			tr.committed(begun.Add(half), begun.Add(half))
			tr.begin(begun.Add(half), begun.Add(half), sessionLength)
			require.True(t, tr.rely(begun.Add(half)))
			tr.begin(begun.Add(half+time.Second), begun.Add(half+time.Second), sessionLength) // A, but not Q
			until := begun.Add(half + window)
			require.Equal(t, until, tr.until(), name)
			if !reached {
				late(&tr, until.Add(-1))
				assert.NoError(t, tr.expired(until.Add(-1)), name)
				continue
			}
			late(&tr, until)
			tr.begin(until, until, sessionLength)
			tr.committed(until, until)
			assert.ErrorIs(t, tr.expired(until), errNotVouched, name)
			assert.Equal(t, until, tr.until(), name)
			assert.False(t, tr.rely(until), name)
		}
	}
}

// slept returns the present time on a machine that slept for d: its monotonic clock
// stood still meanwhile.
func slept(now time.Time, d time.Duration) time.Time {
	type layout struct {
		wall uint64
		ext  int64 // the monotonic clock
		loc  *time.Location
	}
	later := now.Add(d)
	(*layout)(unsafe.Pointer(&later)).ext = (*layout)(unsafe.Pointer(&now)).ext
	return later
}

func TestAgeGoesByTheClockOnWhichMoreTimeHasPassed(t *testing.T) {
	t.Parallel()
	then := time.Now()
	require.Zero(t, slept(then, time.Hour).Sub(then), "the monotonic clock stood still")
	assert.Equal(t, time.Hour, age(then, slept(then, time.Hour)))
	assert.Equal(t, time.Hour, age(then, then.Add(time.Hour)))
	assert.Equal(t, time.Hour+time.Second, age(then, slept(then.Add(time.Second), time.Hour)))
	assert.Equal(t, time.Second, age(then, slept(then.Add(time.Second), -time.Hour)), "a clock that was set back proves nothing")
}

// The monotonic clock of a machine that slept stood still meanwhile.
func TestTrustExpiresByTheWallClockToo(t *testing.T) {
	t.Parallel()
	sent := time.Now()
	window := trustWindow(sessionLength)
	var none trust
	assert.NoError(t, none.expired(sent.Add(time.Hour)), "there was no handshake yet")
	for name, set := range map[string]func(tr *trust){
		"A": func(tr *trust) {
			tr.begin(sent, sent, sessionLength)
			require.True(t, tr.rely(sent))
			tr.committed(sent.Add(time.Second), sent)
		},
		"Q": func(tr *trust) {
			tr.begin(sent, sent, sessionLength)
			require.True(t, tr.rely(sent))
			tr.begin(sent.Add(time.Second), sent, sessionLength)
		},
		"A alone": func(tr *trust) { tr.begin(sent, sent, sessionLength) },
	} {
		for _, now := range []time.Time{sent.Add(window), slept(sent, window), slept(sent.Add(time.Second), window-time.Second)} {
			var tr trust
			set(&tr)
			assert.NoError(t, tr.expired(now.Add(-1)), name)
			assert.NoError(t, tr.expired(slept(now.Add(-1), -time.Hour)), "%s: a clock that was set back proves nothing", name)
			assert.ErrorIs(t, tr.expired(now), ErrTrustExpired, name)
		}
	}
	for _, now := range []time.Time{sent.Add(sessionLength / 2), slept(sent, sessionLength/2)} {
		var tr trust
		tr.begin(sent, sent, sessionLength)
		assert.True(t, tr.rely(now.Add(-1)))
		assert.False(t, tr.rely(now), "so old a Q does not vouch for a grant")
	}
}

// A connection that was made with an old Q may lead to a leader that is about to end
// the session, and that answers every request until then.
func TestNothingReliesOnASessionThatWasAboutToExpire(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	roundTrips := func(tr *trust, from, to float64) {
		for s := from; s <= to; s += 0.75 {
			tr.answer(at(s), at(s), true)
		}
	}
	var tr trust
	tr.begin(at(0), at(0), sessionLength)
	tr.begin(at(4), at(4), sessionLength)
	assert.True(t, tr.rely(at(4)), "Q is young")
	tr.leave(at(4))
	roundTrips(&tr, 4, 10)
	tr.committed(at(10), at(10))
	assert.True(t, tr.rely(at(10)), "it was old for a time, on one connection")
	tr.leave(at(10))
	roundTrips(&tr, 10.75, 17)
	tr.begin(at(17.4), at(17.4), sessionLength)
	tr.committed(at(17.4), at(17.4))
	assert.True(t, tr.rely(at(17.4)), "no other leader can have found it expired")
	tr.leave(at(17.4))
	tr.vouched = at(10)
	roundTrips(&tr, 17.5, 19)
	tr.begin(at(20), at(20), sessionLength)
	tr.committed(at(20.1), at(20.1))
	assert.True(t, tr.isVouched(at(20.1)))
	assert.False(t, tr.rely(at(20.1)))
	roundTrips(&tr, 20.5, 22)
	tr.begin(at(22), at(22), sessionLength)
	roundTrips(&tr, 22.5, 24.7)
	assert.False(t, tr.rely(at(24.7)), "round trips on another connection do not count")
	roundTrips(&tr, 24.75, 25.5)
	tr.committed(at(25.5), at(25.5))
	assert.True(t, tr.rely(at(25.5)))
}
