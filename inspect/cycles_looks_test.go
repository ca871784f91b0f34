package inspect_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A ring is a deadlock of two mutexes.
type ring struct {
	x, y   *lease.Lease
	toX    *conformance.Attempt // by the holder of y
	toY    *conformance.Attempt
	reader *framework.Client // has no part in it
}

func newRing(t *testing.T, w *conformance.World) *ring {
	t.Helper()
	a, b := w.Client("a"), w.Client("b")
	r := &ring{x: w.Acquire(mutexAt(t, a, "/locks/x", "a")), y: w.Acquire(mutexAt(t, b, "/locks/y", "b")), reader: w.Client("reader")}
	r.toY, r.toX = within(w, r.x, mutexAt(t, a, "/locks/y", "a")), within(w, r.y, mutexAt(t, b, "/locks/x", "b"))
	return r
}

func (r *ring) end(t *testing.T) {
	t.Helper()
	ends(t, []*lease.Lease{r.x, r.y}, r.toX, r.toY)
}

// before delays the nth listing of a path by a client, and changes something meanwhile.
// It returns a channel that is closed when that is done.
func before(w *conformance.World, client, path string, nth int, change func()) (changed <-chan struct{}) {
	w.Server.On(zktest.OpGetChildren2, path).Client(client).Nth(nth).Before().Delay(time.Second)
	done := make(chan struct{})
	time.AfterFunc(time.Second/2, func() {
		defer close(done)
		change()
	})
	return done
}

// A path is listed by the walk, by the first look, and by the second one.
const (
	firstLook  = 2
	secondLook = 3
)

// Nothing of a cycle may have changed between the looks.
func TestCycleThatEndsBetweenTheLooks(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(t *testing.T, w *conformance.World, r *ring)
		want   int
	}{
		"it does not": {func(*testing.T, *conformance.World, *ring) {}, 1},
		"one gives up": {func(_ *testing.T, _ *conformance.World, r *ring) {
			r.toX.Cancel(nil)
			<-r.toX.Done()
		}, 0},
		"one begins again": {func(t *testing.T, w *conformance.World, r *ring) {
			r.toX.Cancel(nil)
			<-r.toX.Done()
			r.toX = w.Begin(r.y.Context(), mutexAt(t, w.Known("b"), "/locks/x", "b"), lease.Forever)
		}, 0},
		"one is released": {func(t *testing.T, _ *conformance.World, r *ring) { require.NoError(t, r.x.Release()) }, 0},
		"a session ends":  {func(_ *testing.T, w *conformance.World, _ *ring) { w.Server.ExpireSession(w.Known("a").Session().ID()) }, 0},
		"another one comes": {func(t *testing.T, w *conformance.World, _ *ring) {
			foreign(t, w.Known("b"), "/locks/x/lock-")
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				r := newRing(t, w)
				// They are listed side by side, and neither may be before the change.
				w.Server.On(zktest.OpGetChildren2, "/locks/y").Client("reader").Nth(secondLook).Before().Delay(time.Second)
				changed := before(w, "reader", "/locks/x", secondLook, func() { tc.change(t, w, r) })
				require.Len(t, cycles(t, r.reader, "/").Cycles, tc.want)
				<-changed
				for _, l := range []*lease.Lease{r.x, r.y} {
					_ = l.Release()
				}
				ends(t, nil, r.toX, r.toY)
			})
		})
	}
}

// The first look sees two queues at two moments: one waits no more at the first, when
// the other one begins to wait at the second. There is no moment with a deadlock.
func TestCycleThatNeverWas(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		x, y := w.Acquire(mutexAt(t, a, "/locks/x", "a")), w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		toX := within(w, y, mutexAt(t, b, "/locks/x", "b"))
		third := w.Start(mutexAt(t, c, "/locks/y", "c"), lease.Forever) // so that it is read
		const between = 16                                              // as many are read at a time
		for i := range 2 * between {
			foreign(t, c, fmt.Sprintf("/locks/x%02d/lock-", i/2))
		}
		var toY *conformance.Attempt
		changed := before(w, "c", "/locks/y", firstLook, func() {
			toX.Cancel(nil)
			<-toX.Done()
			toY = w.Begin(x.Context(), mutexAt(t, a, "/locks/y", "a"), lease.Forever)
		})
		asked := w.Requests(func() { require.Empty(t, cycles(t, c, "/").Cycles) })
		require.GreaterOrEqual(t, asked[zktest.OpGetChildren2], 2+2*(between+2)+2, "there were two looks")
		<-changed
		ends(t, []*lease.Lease{x, y}, toY, third)
	})
}

// Who waits in both looks may have had the permits in between, if there were more.
func TestSizeThatChangesBetweenTheLooks(t *testing.T) {
	for name, layout := range semaphores {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				s := permitsAt(t, w.Client("a"), "/limits/x", "a", 1, layout)
				held, c := w.Acquire(s), w.Client("c")
				self := within(w, held, s)
				w.Server.On(zktest.OpExists, "/limits/x").Client("c").After().Delay(time.Second)
				time.AfterFunc(time.Second/2, func() {
					node, ok := w.Server.Node("/limits/x")
					require.True(t, ok)
					_, err := c.Set(t.Context(), "/limits/x", node.Data, framework.AnyVersion)
					require.NoError(t, err)
				})
				require.Empty(t, cycles(t, c, "/").Cycles)
				ends(t, []*lease.Lease{held}, self)
			})
		})
	}
}

// A single queue lists as waiting whom a smaller size has no room for, although it
// holds: it works, and others wait for it.
func TestHolderThatASmallerSizeHasNoRoomFor(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		single := semaphores["single queue"]
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		mine, theirs := permitsAt(t, a, "/limits/x", "a", 2, single), permitsAt(t, b, "/limits/x", "b", 2, single)
		permit, lock := w.Acquire(mine), w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		works := within(w, lock, theirs).Granted()
		require.NoError(t, mine.Resize(t.Context(), 1))
		waits := within(w, permit, mutexAt(t, a, "/locks/y", "a"))
		found := cycles(t, c, "/").Cycles
		require.Len(t, found, 1)
		require.False(t, found[0].Certain)
		// Who says that it holds that permit makes it known.
		third := within(w, works, mutexAt(t, b, "/locks/z", "b")).Granted()
		other := w.Start(mutexAt(t, c, "/locks/z", "c"), lease.Forever)
		require.Empty(t, cycles(t, c, "/").Cycles)
		// Who has joined since does wait.
		_ = third.Release()
		_ = works.Release()
		late := within(w, lock, theirs)
		found = cycles(t, c, "/").Cycles
		require.Len(t, found, 1)
		require.True(t, found[0].Certain)
		ends(t, []*lease.Lease{permit, lock}, late, waits, other)
	})
}

// A slot that is handed over within a session is listed as before until its node is
// deleted. Who says that it holds it does. In the same session it can say that only
// after the delete, but not with another client.
func TestCycleOfASlotThatIsHandedOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, more, b, c := w.Client("a"), w.Client("more"), w.Client("b"), w.Client("c")
		m := mutexAt(t, a, "/locks/x", "a")
		held, next := w.Acquire(m), w.Start(m, lease.Forever)
		y := w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		toX := within(w, y, mutexAt(t, b, "/locks/x", "b"))
		w.After(100 * time.Millisecond)
		w.Server.On(zktest.OpDelete, held.Path()).Client("a").Delay(time.Second)
		freed := make(chan error, 1)
		go func() { freed <- held.Release() }()
		got := next.Granted()
		toY := within(w, got, mutexAt(t, more, "/locks/y", "a"))
		listed, err := inspect.Path(t.Context(), c, "/locks/x")
		require.NoError(t, err)
		require.Equal(t, got.Path(), listed.Queues[0].Contenders[1].Path)
		require.Equal(t, inspect.Waiting, listed.Queues[0].Contenders[1].State)
		require.Equal(t, []string{
			"certain: b holds /locks/y and waits for /locks/x. a holds /locks/x and waits for /locks/y.",
		}, linksOf(cycles(t, c, "/")))
		require.NoError(t, <-freed)
		ends(t, []*lease.Lease{got, y}, toX, toY)
	})
}

// One that waits in the first look and holds in the second one is in no cycle yet: it
// is not known whether all the others were there at the same moment.
func TestWhoIsGrantedBetweenTheLooks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		p, q, s, c := w.Client("p"), w.Client("q"), w.Client("s"), w.Client("c")
		for _, node := range []struct {
			client *framework.Client
			path   string
		}{{q, "/locks/b"}, {p, "/locks/a"}, {s, "/locks/b"}, {p, "/locks/b"}, {s, "/locks/a"}, {q, "/locks/a"}} {
			foreign(t, node.client, node.path+"/lock-")
		}
		require.Len(t, cycles(t, c, "/").Cycles, 1, "p and q")
		before(w, "c", "/locks", 6, func() { w.Remove(q, "/locks/b/lock-0000000000") })
		require.Empty(t, cycles(t, c, "/").Cycles)
		require.Len(t, cycles(t, c, "/").Cycles, 1, "p and s")
	})
}
