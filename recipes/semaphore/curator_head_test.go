package semaphore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The permits are made only if the position in the queue stands at that moment.
func TestPositionIsDeletedBeforeThePermitIsMade(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		s := newSemaphore(t, a, 2)
		warm(w, s)
		// Everything has been looked at; the transaction is under way.
		w.Server.On(zktest.OpMulti, path).Client("a").Before().Delay(time.Second)
		at := ask(w, s, 2)
		require.True(t, at.Waiting())
		old := waiting(w)
		require.Len(t, old, 1)
		w.Remove(operator, old[0])
		w.After(time.Second)
		got := at.Granted()
		require.Len(t, holding(w), 2, "by a new position")
		require.Empty(t, waiting(w))
		release(w, got)
	})
}

// A head that has never waited for others notices at once that its position is deleted,
// or that its revocation is requested.
func TestPositionOfAWaitingHeadIsWatched(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator := w.Client("operator")
		held := w.Acquire(newSemaphore(t, w.Client("a"), 1))
		at := ask(w, newSemaphore(t, w.Client("b"), 1), 1)
		old := waiting(w)
		require.Len(t, old, 1)
		w.Remove(operator, old[0])
		w.Settle()
		require.Len(t, waiting(w), 1, "a new one")
		require.NoError(t, lease.RequestRevocation(t.Context(), operator, waiting(w)[0]))
		w.Settle()
		release(w, held)
		got := at.Granted()
		require.True(t, conformance.Closed(got.RevocationRequested()))
		release(w, got)
	})
}

// The size changes between the look and the transaction.
func TestResizeWhileThePermitIsMade(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 2), newSemaphore(t, w.Client("b"), 2)
		held := w.Acquire(b)
		late := w.Server.On(zktest.OpMulti, path).Client("a").Before().Delay(time.Second)
		at := ask(w, a, 1)
		<-late.Fired()
		require.NoError(t, b.Resize(t.Context(), 1))
		w.After(time.Minute)
		require.True(t, at.Waiting(), "the size that counted it is out of date")
		require.Len(t, holding(w), 1)
		release(w, held)
		release(w, at.Granted())
	})
}

// The parent of the permits is reaped at every moment.
func TestParentOfPermitsIsReapedBetweenTheSteps_CuratorD502(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpGetChildren2, zktest.OpMulti, zktest.OpCreate, zktest.OpGetData} {
		t.Run(fmt.Sprint(op), func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				s, operator := newSemaphore(t, w.Client("a"), 2), w.Client("operator")
				warm(w, s)
				for times := 1; times < 4; times++ { // in a row
					var late []*zktest.Rule
					for nth := range times {
						late = append(late, w.Server.On(op, path).Client("a").Nth(nth+1).Before().Delay(time.Second))
					}
					at := ask(w, s, 1)
					for _, rule := range late {
						select {
						case <-rule.Fired():
						case <-at.Done():
							t.Fatal("it was granted before the parent was reaped so many times")
						}
						for _, parent := range []string{"/leases", "/locks", ""} {
							_ = operator.Delete(t.Context(), path+parent, framework.AnyVersion) // if it is empty
						}
					}
					release(w, at.Granted())
				}
				require.Empty(t, contenders(w))
			})
		})
	}
}

// An event tells of the end of the node ahead, and then the connection breaks. The next
// server may not know yet: a sync comes before the permits are counted.
func TestUnconfirmedHeadIsCheckedAfterAReconnect(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 3), newSemaphore(t, w.Client("b"), 3)
		held := take(w, a, 3)
		head, next := ask(w, a, 1), ask(w, b, 1)
		w.After(time.Second)
		w.Server.On(zktest.OpGetChildren2, path+"/leases").Client("b").Before().Cut()
		synced := w.Server.On(zktest.OpSync, path).Client("b").Before().Delay(time.Millisecond)
		release(w, held)
		got := head.Granted()
		also := next.Granted()
		require.True(t, conformance.Closed(synced.Fired()), "no sync")
		require.Len(t, holding(w), 2)
		release(w, got, also)
	})
}

// No server that the session can attach to knows less than a listing, unlike an event.
func TestNoSyncAfterAListing(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		s := newSemaphore(t, w.Client("a"), 1)
		warm(w, s)
		w.Server.On(zktest.OpGetChildren2, path+"/leases").Before().Cut()
		synced := w.Server.On(zktest.OpSync, path).Optional().Delay(0)
		release(w, w.Acquire(s))
		require.False(t, conformance.Closed(synced.Fired()), "a sync")
		synced.Remove()
	})
}

// A Java program at the head of the queue makes its permit first and then waits until
// there are not too many.
func TestBesideCurator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, java := newSemaphore(t, w.Client("a"), 2), w.Client("java")
		held := []*lease.Lease{w.Acquire(a), w.Acquire(a)}
		const id = "/_c_01234567-89ab-4def-8123-456789abcdef-"
		ticket, err := java.Create(t.Context(), path+"/locks"+id+"lock-", []byte("10.0.0.1"), framework.EphemeralSequential)
		require.NoError(t, err)
		permit, err := java.Create(t.Context(), path+"/leases"+id+"lease-", []byte("10.0.0.1"), framework.EphemeralSequential)
		require.NoError(t, err)
		at := ask(w, a, 1)
		release(w, held[0])
		w.After(time.Second)
		require.True(t, at.Waiting(), "the permit is Java's")
		w.Remove(java, ticket.Path)
		require.True(t, at.Waiting())
		w.Remove(java, permit.Path)
		got := at.Granted()
		release(w, got, held[1])
	})
}

// A permit counts whichever client made it.
func TestForeignPermitsCount_Curator43(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		s := newSemaphore(t, c, 2)
		warm(w, s)
		for _, name := range []string{"lease-0000000000", "x-lease-0000000001", "lease--2147483648"} {
			_, err := c.Create(t.Context(), path+"/leases/"+name, nil, framework.Persistent)
			require.NoError(t, err)
			require.ErrorIs(t, w.Start(s.Weight(2), 0).Failed(), lease.ErrTimeout)
			release(w, w.Start(s, 0).Granted())
			w.Remove(c, path+"/leases/"+name)
		}
		release(w, w.Start(s.Weight(2), 0).Granted())
	})
}

// The answer to a request for three permits is dropped, and before they are found again
// another client deletes one: no lease on three is granted for the rest.
func TestPermitIsDeletedBeforeItIsFoundAgain(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 3), newSemaphore(t, w.Client("b"), 3)
		operator := w.Client("operator")
		warm(w, a)
		w.Server.On(zktest.OpMulti, path).Client("a").After().Cut()
		slow := w.Server.On(zktest.OpSync, path).Client("a").Before().Delay(time.Second)
		at := ask(w, a, 3)
		<-slow.Fired()
		w.Remove(operator, holding(w)[1])
		w.After(time.Minute)
		got := at.Granted()
		require.NoError(t, got.Confirm(t.Context()))
		require.Len(t, holding(w), 3)
		other := ask(w, b, 1)
		w.After(time.Minute)
		require.True(t, other.Waiting())
		release(w, got)
		release(w, other.Granted())
	})
}
