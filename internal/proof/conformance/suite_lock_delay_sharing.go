package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// delayedSharing are rows about slots that several hold together: an unclean end keeps
// out those that conflict with it, and no others.
var delayedSharing = timedRows{
	"one of several holders is killed":           oneSharerIsKilled,
	"two of several holders are killed":          twoSharersAreKilled,
	"one is killed that others saw hold":         aKnownSharerIsKilled,
	"a slot is released while another is closed": slotIsReleasedInDelay,
}

// delayedDowngrades are rows about writers that become readers.
var delayedDowngrades = timedRows{
	"a writer is killed that has become a reader": downgradedIsKilled(true, false),
	"a writer is killed that is a reader as well": downgradedIsKilled(false, false),
	"a writer is killed that was a reader":        downgradedIsKilled(false, true),
	"a writer becomes a reader and releases":      downgradedReleases,
}

func oneSharerIsKilled(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	dead := w.Client("dead")
	w.Acquire(r.New(dead, path))
	w.kill(dead)
	requireOneClosed(t, w, r)
}

// twoSharersAreKilled kills the one some time after the other. A slot is open when the
// delay after the first end has passed.
func twoSharersAreKilled(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	if r.Slots == 0 || r.Spread {
		return
	}
	held, clients := holders(w, r)
	at := w.Start(r.New(w.Client("a"), path), lease.Forever)
	w.kill(clients[0])
	since := time.Now()
	w.After(4 * time.Second)
	w.Expire(clients[1])
	w.Expire(w.Named("a")) // it looks again, and sees that
	w.Settle()
	got := w.requireGrantedAt(r, at, since.Add(lockDelay))
	require.Len(t, w.Records(), len(held), "the record of the other one stays")
	next := w.Start(r.New(w.Named("a"), path), lease.Forever)
	require.True(t, next.Waiting())
	release(t, append(held[2:], got, next.Granted())...)
	w.Settle()
	require.LessOrEqual(t, len(w.Records()), 1)
}

// aKnownSharerIsKilled has another contender list the records when the holder behind it
// is recorded, long before that is killed.
func aKnownSharerIsKilled(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	dead, slow := w.Client("dead"), w.Client("slow")
	w.Server.On(zktest.OpGetChildren2, path+r.Below+"/lock-delay").Client("slow").Optional().Before().Delay(time.Second)
	ahead := w.Start(r.New(slow, path), lease.Forever)
	w.Acquire(r.New(dead, path))
	release(t, ahead.Granted())
	w.After(3 * lockDelay)
	w.kill(dead)
	requireOneClosed(t, w, r)
}

// requireOneClosed requires that one slot is closed from now on, and the others are
// open.
func requireOneClosed(t *testing.T, w *World, r Recipe) {
	t.Helper()
	require.Len(t, w.Records(), 1)
	others := r.Slots - 1
	if r.Slots == 0 {
		others = 3
	}
	var held []*lease.Lease
	for i := range others {
		at := w.Start(r.New(w.Named(fmt.Sprint("other", i)), path), []time.Duration{0, lease.Forever}[i%2])
		w.After(200 * time.Millisecond) // any of several queues may need a second look
		require.False(t, at.Waiting(), "that one does not conflict")
		held = append(held, at.Granted())
	}
	last := r.blocker()(w.Client("last"), path)
	if r.Slots == 0 {
		release(t, held...)
		held = nil
	}
	require.Len(t, w.Records(), 1+len(held))
	since := time.Now()
	at := w.Start(last, lease.Forever)
	if r.Spread {
		w.After(lockDelay - time.Millisecond)
		require.True(t, at.Waiting())
		release(t, at.Granted())
		require.LessOrEqual(t, at.Took, lockDelay+11*time.Second, "it looks at all slots from time to time")
	} else {
		release(t, w.requireGrantedAt(r, at, since.Add(lockDelay)))
	}
	release(t, held...)
	w.Settle()
	require.Empty(t, w.Records())
}

// slotIsReleasedInDelay releases a slot while others wait for one that is closed.
func slotIsReleasedInDelay(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	if r.Slots == 0 {
		return
	}
	held, clients := holders(w, r)
	w.kill(clients[0])
	at := w.Start(r.New(w.Client("a"), path), lease.Forever)
	w.After(5 * time.Second)
	require.True(t, at.Waiting())
	release(t, held[1])
	w.After(time.Second)
	if r.Spread {
		w.After(10 * time.Second) // until it looks again
	}
	require.False(t, at.Waiting(), "a slot is free")
	release(t, append(held[2:], at.Granted())...)
}

// downgradedIsKilled has a writer become a reader, release the one or the other, and
// then be killed.
func downgradedIsKilled(writerReleases, readerReleases bool) timedRow {
	return func(t *testing.T, w *World, with Timed) {
		r := with(Times{LockDelay: lockDelay})
		c := w.Client("dead")
		writing := w.Acquire(r.New(c, path))
		reading := w.StartWith(writing.Context(), r.Readers(c, path), 0).Granted()
		require.Len(t, w.Records(), 2)
		if writerReleases {
			release(t, writing)
		}
		if readerReleases {
			release(t, reading)
		}
		w.Settle()
		w.kill(c)
		w.Client("reader")
		since := time.Now()
		reader := w.Start(r.Readers(w.Named("reader"), path), lease.Forever)
		if writerReleases {
			require.False(t, reader.Waiting(), "only a reader was killed")
			release(t, reader.Granted())
			since = time.Now()
		} else {
			release(t, w.requireGrantedAt(r, reader, since.Add(lockDelay)))
			w.Settle()
			require.Empty(t, w.Records())
			return
		}
		release(t, w.requireGrantedAt(r, w.Start(r.New(w.Named("reader"), path), lease.Forever), since.Add(lockDelay)))
	}
}

func downgradedReleases(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	c, b := w.Client("a"), r.New(w.Client("b"), path)
	for i := range 2 {
		writing := w.Acquire(r.New(c, path))
		both := []*lease.Lease{writing, w.StartWith(writing.Context(), r.Readers(c, path), 0).Granted()}
		next := w.Start(b, lease.Forever)
		release(t, both[i], both[1-i])
		w.Settle()
		require.False(t, next.Waiting())
		release(t, next.Granted())
		w.Settle()
		require.Empty(t, w.Records())
	}
}
