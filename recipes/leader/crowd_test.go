package leader_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Five candidates, three rounds: each leads once in each round.
func TestRotatingLeadership_Curator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		for i := range 5 {
			id := fmt.Sprint(i)
			lead(w, newElection(t, w.Client(id), id), o.during(id, time.Second))
		}
		for range 15 {
			o.next(t)
		}
		for round := range slices.Chunk(o.leaders()[:15], 5) {
			require.ElementsMatch(t, []string{"0", "1", "2", "3", "4"}, round)
		}
		o.check(t)
	})
}

// Ten candidates stop one after the other, some while they lead, some before.
func TestClosing_Curator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		var all []*campaign
		for i := range 10 {
			id := fmt.Sprint(i)
			all = append(all, lead(w, newElection(t, w.Client(id), id), o.until(id, 10*time.Millisecond)))
		}
		for i, c := range all {
			if i%3 == 1 {
				require.ErrorIs(t, c.stop(), context.Canceled) // it has not led yet
			}
		}
		for i, c := range all {
			if i%3 != 1 {
				o.next(t)
				require.ErrorIs(t, c.stop(), context.Canceled)
			}
		}
		require.Equal(t, []string{"0", "2", "3", "5", "6", "8", "9"}, o.leaders())
		require.Empty(t, children(w))
		o.check(t)
	})
}

// Containers are reaped all the time.
func TestContainersAreReaped_Curator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		for i := range 3 {
			id := fmt.Sprint(i)
			lead(w, newElection(t, w.Client(id), id), o.during(id, 3*time.Millisecond))
		}
		c := w.Client("observer")
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		changes := 0
		for _, err := range newElection(t, c, "").Observe(ctx) {
			require.NoError(t, err)
			changes++
		}
		require.Greater(t, len(o.leaders()), 50)
		require.Greater(t, changes, 50)
		o.check(t)
	}, zktest.WithReapInterval(time.Millisecond))
}

// Several elections of one client do not affect each other.
func TestManyElectionsOneClient(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		clients := []*framework.Client{w.Client("a"), w.Client("b")}
		offices := map[string]*office{}
		for i := range 10 {
			at := fmt.Sprintf("/elections/%d", i)
			offices[at] = newForcedOffice(w)
			for _, c := range clients {
				e, err := leader.New(c, at)
				require.NoError(t, err)
				who := fmt.Sprintf("%p", c)
				lead(w, e, offices[at].until(who, 0))
			}
		}
		w.After(time.Second)
		w.Expire(clients[0])
		w.After(time.Second)
		for at, o := range offices {
			require.Len(t, o.leaders(), 2, at)
			require.Len(t, w.Server.Children(at), 2)
			o.check(t)
		}
	})
}
