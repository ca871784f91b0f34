package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func areKilled(t *testing.T, w *World, held []*lease.Lease, clients []*framework.Client, _ time.Time) {
	w.kill(clients...)
	for _, l := range held {
		require.ErrorIs(t, l.Release(), lease.ErrLost, "that is too late")
	}
	w.Settle()
}

func areDeleted(t *testing.T, w *World, held []*lease.Lease, _ []*framework.Client, _ time.Time) {
	w.After(time.Second) // by then the holders watch them
	for _, l := range held {
		w.Remove(w.Named("operator"), l.Path())
	}
	w.Settle()
	for _, l := range held {
		require.ErrorIs(t, l.Err(), lease.ErrDeleted)
	}
}

func holdTooLong(t *testing.T, w *World, held []*lease.Lease, _ []*framework.Client, begun time.Time) {
	w.After(time.Until(begun.Add(maxHold + SessionTimeout/6)))
	for _, l := range held {
		require.ErrorIs(t, l.Err(), lease.ErrMaxHold)
	}
}

func areClosed(t *testing.T, w *World, held []*lease.Lease, clients []*framework.Client, _ time.Time) {
	for _, c := range clients {
		closing(w, c)
	}
	w.After(closeGrace)
	for _, l := range held {
		require.ErrorIs(t, l.Release(), framework.ErrClosed, "that is too late")
	}
}

func areReleased(async bool) ending {
	return func(t *testing.T, _ *World, held []*lease.Lease, _ []*framework.Client, _ time.Time) {
		for _, l := range held {
			if async {
				require.NoError(t, l.ReleaseAsync())
			} else {
				release(t, l)
			}
		}
	}
}

// holdTooLongAndAreKilled kills them between the loss and the removal of the nodes.
func holdTooLongAndAreKilled(t *testing.T, w *World, held []*lease.Lease, clients []*framework.Client, begun time.Time) {
	w.After(time.Until(begun.Add(maxHold + SessionTimeout/12)))
	for i, c := range clients {
		require.ErrorIs(t, held[i].Err(), lease.ErrMaxHold)
		w.Expire(c)
	}
	w.Settle()
}

// releaseLate releases lost leases before their nodes go, which they do then. What the
// work had begun may not have ended.
func releaseLate(t *testing.T, w *World, held []*lease.Lease, _ []*framework.Client, begun time.Time) {
	w.After(time.Until(begun.Add(maxHold + 500*time.Millisecond)))
	for _, l := range held {
		require.ErrorIs(t, l.Release(), lease.ErrMaxHold)
	}
	w.Settle()
}

// holdTooLongAndRelease releases them during the delay, which goes on.
func holdTooLongAndRelease(t *testing.T, w *World, held []*lease.Lease, clients []*framework.Client, begun time.Time) {
	holdTooLong(t, w, held, clients, begun)
	releaseIn(t, held, 4*time.Second, lease.ErrMaxHold)
}

func areDeletedAndRelease(t *testing.T, w *World, held []*lease.Lease, clients []*framework.Client, begun time.Time) {
	areDeleted(t, w, held, clients, begun)
	releaseIn(t, held, lockDelay-time.Second, lease.ErrDeleted)
}

// releaseIn releases lost leases after that time.
func releaseIn(t *testing.T, held []*lease.Lease, d time.Duration, reason error) {
	t.Helper()
	time.AfterFunc(d, func() {
		for _, l := range held {
			assert.ErrorIs(t, l.Release(), reason)
		}
	})
}

func releaseInClose(t *testing.T, w *World, held []*lease.Lease, clients []*framework.Client, _ time.Time) {
	for _, c := range clients {
		closing(w, c)
	}
	w.After(closeGrace - time.Millisecond)
	for _, l := range held {
		require.ErrorIs(t, l.Release(), framework.ErrClosed)
	}
}

// releaseInOutage releases while no request can be sent. The sessions survive that.
func releaseInOutage(t *testing.T, w *World, held []*lease.Lease, _ []*framework.Client, _ time.Time) {
	for i := range held {
		w.Server.RefuseConnections(fmt.Sprint("holder", i), true)
		w.Server.DropConnections(fmt.Sprint("holder", i))
	}
	w.Settle()
	records := len(w.Records())
	release(t, held...)
	w.After(time.Second)
	require.Len(t, w.Records(), records)
	for i := range held {
		w.Server.RefuseConnections(fmt.Sprint("holder", i), false)
	}
	w.After(200 * time.Millisecond)
}

// areKilledInTheRest kills those that have released, and only keep the slot.
func areKilledInTheRest(t *testing.T, w *World, held []*lease.Lease, clients []*framework.Client, _ time.Time) {
	begunToRest(t, w, held)
	w.kill(clients...)
}

func areClosedInTheRest(t *testing.T, w *World, held []*lease.Lease, clients []*framework.Client, _ time.Time) {
	begunToRest(t, w, held)
	for _, c := range clients {
		require.NoError(t, c.Close())
	}
}

func begunToRest(t *testing.T, w *World, held []*lease.Lease) {
	nodes := w.Ephemerals("/")
	for _, l := range held {
		require.NoError(t, l.ReleaseAsync())
	}
	w.After(time.Second)
	require.Empty(t, w.Records(), "the work has ended")
	require.Equal(t, nodes, w.Ephemerals("/"), "the slots are taken")
}
