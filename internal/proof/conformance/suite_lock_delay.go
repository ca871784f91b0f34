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

// lockDelay is longer than a session timeout, and what a lost lease takes to go.
const lockDelay = 20 * time.Second

// delayedEnds are rows about how all holders end: uncleanly, which keeps others out for
// the delay, or cleanly.
var delayedEnds = timedRows{
	"holders are killed":                            unclean(Times{}, areKilled),
	"the nodes of holders are deleted":              unclean(Times{}, areDeleted),
	"holders hold for too long":                     unclean(Times{MaxHold: maxHold}, holdTooLong),
	"clients of holders are closed":                 unclean(Times{}, areClosed),
	"holders hold for too long, and are killed":     unclean(Times{MaxHold: maxHold}, holdTooLongAndAreKilled),
	"holders release":                               clean(Times{}, areReleased(false)),
	"holders release async":                         clean(Times{}, areReleased(true)),
	"holders release late, before the nodes go":     unclean(Times{MaxHold: maxHold}, releaseLate),
	"holders release late, when the nodes are gone": unclean(Times{MaxHold: maxHold}, holdTooLongAndRelease),
	"holders release, their nodes are deleted":      unclean(Times{}, areDeletedAndRelease),
	"holders release during an outage":              clean(Times{}, releaseInOutage),
	"holders release while they close":              clean(Times{}, releaseInClose),
}

// delayedRests are rows about those who have released, and only keep the slot.
var delayedRests = timedRows{
	"holders are killed in the rest of a minimum hold time": clean(Times{MinHold: time.Minute}, areKilledInTheRest),
	"clients are closed in the rest of a minimum hold time": clean(Times{MinHold: time.Minute}, areClosedInTheRest),
}

const maxHold = 8 * time.Second

// An ending ends all holds, which have begun just now. What it does last, if it is
// clean, is what opens the slots.
type ending = func(t *testing.T, w *World, held []*lease.Lease, clients []*framework.Client, begun time.Time)

// closedFor is how long all slots are closed after an unclean end. That of several
// locks is counted when its lock is waited for, and they are taken one by one.
func (r Recipe) closedFor() time.Duration { return lockDelay * time.Duration(max(r.Locks, 1)) }

// unclean is a row in which all holds end uncleanly: who waits already, and who comes
// later and finds nobody, both wait for the delay, to the millisecond.
func unclean(times Times, end ending) timedRow {
	times.LockDelay = lockDelay
	return func(t *testing.T, w *World, with Timed) {
		r := with(Times{LockDelay: lockDelay})
		a := r.New(w.Client("a"), path)
		for _, waits := range []bool{true, false} {
			held, clients := holders(w, with(times))
			begun := time.Now()
			require.Len(t, w.Records(), len(held)*max(r.Locks, 1))
			at := w.waiterIf(waits, a)
			end(t, w, held, clients, begun)
			since := time.Now()
			if !waits {
				w.After(3 * time.Second)
				require.Empty(t, w.Ephemerals("/"))
				since, at = time.Now(), w.Start(a, lease.Forever)
			}
			got := w.requireGrantedAt(r, at, since.Add(r.closedFor()))
			if r.Slots <= 1 { // of several, the first that was closed is open again
				require.Len(t, w.Records(), max(r.Locks, 1), "the records of those that have ended are removed")
			}
			release(t, got)
			release(t, w.Start(a, 0).Granted())
		}
	}
}

// clean is a row in which all holds end cleanly, so that there is no delay at all.
func clean(times Times, end ending) timedRow {
	times.LockDelay = lockDelay
	return func(t *testing.T, w *World, with Timed) {
		r := with(Times{LockDelay: lockDelay})
		a := r.New(w.Client("a"), path)
		for _, waits := range []bool{true, false} {
			held, clients := holders(w, with(times))
			begun := time.Now()
			at := w.waiterIf(waits, a)
			end(t, w, held, clients, begun)
			w.Settle()
			if !waits {
				require.Empty(t, w.Records())
				at = w.Start(a, 0)
			}
			require.False(t, at.Waiting(), "there is no delay")
			release(t, at.Granted())
		}
		w.Settle()
		for _, left := range w.below("/conformance") {
			info, _ := w.Server.Node(left)
			require.True(t, info.Container || slices.Contains(r.Keeps, strings.TrimPrefix(left, path+"/")), "%s is left", left)
		}
		w.After(5 * time.Minute)
		if len(r.Keeps) == 0 {
			require.Empty(t, w.below("/conformance"), "and the server removes it")
		}
	}
}

// waiterIf starts an attempt that waits, if it is wanted.
func (w *World) waiterIf(wanted bool, a lease.Acquirer) *Attempt {
	if !wanted {
		return nil
	}
	at := w.Start(a, lease.Forever)
	w.After(time.Second)
	require.True(w.T, at.Waiting())
	return at
}
