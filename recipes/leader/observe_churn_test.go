package leader_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Leaders change at random, with all faults that an observer can meet: the last value
// is the latest leader, and no value is older than the one before.
func TestObserveUnderChurn(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				o, operator := w.Client("o"), w.Client("operator")
				clients := []*framework.Client{w.Client("a"), w.Client("b"), w.Client("c")}
				pauses := rand.New(rand.NewPCG(seed, 2))
				slow := func(lease.Contender) { time.Sleep(time.Duration(pauses.IntN(30)) * time.Millisecond) }
				look := observe(w, newElection(t, o, ""), slow)
				work := newForcedOffice(w)
				var all []*campaign
				for i, c := range clients {
					all = append(all, lead(w, newElection(t, c, fmt.Sprint(i)), work.during(fmt.Sprint(i), time.Duration(20+rnd.IntN(200))*time.Millisecond)))
				}
				for range 30 {
					w.After(time.Duration(rnd.IntN(300)) * time.Millisecond)
					switch rnd.IntN(9) {
					case 0:
						w.Server.ExpireSession(o.Session().ID()) // if it has one
					case 1:
						w.Server.DropConnections("o")
					case 2:
						w.Server.DropConnections("")
					case 3:
						w.Server.ExpireSession(clients[rnd.IntN(3)].Session().ID())
					case 4:
						_ = operator.DeleteTree(t.Context(), path)
					case 5:
						w.Server.Partition("o", true)
						w.After(time.Duration(rnd.IntN(8)) * time.Second)
						w.Server.Partition("o", false)
					case 6:
						w.Server.On(zktest.AnyOp, path).OnEvent().Client("o").Cut()
					case 7:
						w.Server.Lag("o", true)
						w.After(time.Duration(rnd.IntN(500)) * time.Millisecond)
						w.Server.Lag("o", false)
					case 8:
						w.Server.Restart(true)
					}
				}
				w.Heal()
				w.After(3 * conformance.SessionTimeout)
				for _, c := range all {
					require.ErrorIs(t, c.stop(), context.Canceled)
				}
				w.After(time.Second)
				require.Empty(t, look.last(), "no leader in the end")
				held := w.Acquire(newElection(t, operator, "last"))
				w.After(time.Second)
				require.Equal(t, held.Path(), look.last())
				require.NoError(t, held.Release())
				work.check(t)
				token := lease.Token(0)
				seen := look.all()
				for i, c := range seen {
					require.False(t, i > 0 && c.Node == seen[i-1].Node, "the same leader twice")
					if c.Node != "" {
						require.Greater(t, c.Token, token, "an older leader")
						token = c.Token
					}
				}
			})
		})
	}
}

// Each change falls between two requests of the observer.
func TestObserveMissesNothingBetweenLookAndWatch(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("b"), "b")
		o := w.Client("o")
		// change is made while the nth request of a kind is under way, or makes the
		// observer send it. There are at most these, and fewer with some changes.
		calls := map[zktest.Op]int{zktest.OpGetChildren2: 3, zktest.OpGetData: 2, zktest.OpExists: 1}
		struck := map[zktest.Op]int{} // the greatest n
		for _, exists := range []bool{false, true} {
			for op := range calls {
				for n := 1; n <= calls[op]; n++ {
					for _, phase := range []func(*zktest.Rule) *zktest.Rule{(*zktest.Rule).Before, (*zktest.Rule).After} {
						for change := range 3 {
							operator := w.Client("operator")
							if exists {
								require.NoError(t, operator.CreateParents(t.Context(), path+"/x"))
							} else {
								_ = operator.DeleteTree(t.Context(), path) // which may not exist
							}
							w.Settle()
							var held *lease.Lease
							if change > 0 {
								held = w.Acquire(a)
							}
							rule := phase(w.Server.On(op, path).Client("o").Nth(n))
							rule.Optional().Delay(time.Second)
							ctx, cancel := context.WithCancel(t.Context())
							seen, e := make(chan string, 10), newElection(t, o, "")
							go func() {
								defer close(seen)
								for present, err := range e.Observe(ctx) {
									if err != nil {
										t.Error(err)
									}
									seen <- present.Path
								}
							}()
							select {
							case <-rule.Fired():
							case <-time.After(100 * time.Millisecond):
							}
							want := ""
							switch change {
							case 0:
								held = w.Acquire(a)
								want = held.Path()
							case 1:
								require.NoError(t, held.Release())
								held = nil
							case 2:
								next := w.Start(b, lease.Forever)
								require.NoError(t, held.Release())
								held = next.Granted()
								want = held.Path()
							}
							w.After(5 * time.Second)
							cancel()
							last := "nothing"
							for p := range seen {
								last = p
							}
							require.Equal(t, want, last, "%v %d, change %d", op, n, change)
							if held != nil {
								require.NoError(t, held.Release())
							}
							rule.Remove()
							if conformance.Closed(rule.Fired()) {
								struck[op] = max(struck[op], n)
							}
							require.NoError(t, operator.Close())
						}
					}
				}
			}
		}
		require.Equal(t, calls, struck)
	})
}

// A change that no event tells, because the observer may not read the node at that
// moment, is found in about a session timeout.
func TestObserveMissedEvents(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const untold = conformance.SessionTimeout*5/4 + time.Second
		operator, a := w.Client("operator"), w.Client("a")
		hide := func(node string) {
			_, err := operator.SetACL(t.Context(), node, framework.WorldACL(framework.PermAll&^framework.PermRead), framework.AnyVersion)
			require.NoError(t, err)
		}
		show := func(node string) {
			_, err := operator.SetACL(t.Context(), node, framework.WorldACL(framework.PermAll), framework.AnyVersion)
			require.NoError(t, err)
		}
		first := w.Acquire(newElection(t, a, "first"))
		look := observe(w, newElection(t, w.Client("o"), ""), nil)
		w.Server.ResetCounts()
		w.After(time.Minute)
		require.LessOrEqual(t, w.Server.CountOf("o", zktest.OpExists), conformance.LooksAgain(time.Minute))
		require.Zero(t, w.Server.CountOf("o", zktest.OpGetChildren2), "no listing while there is a leader")
		require.Equal(t, []string{"first"}, look.who())

		hide(first.Path())
		w.Remove(operator, first.Path())
		w.After(untold)
		require.ErrorIs(t, first.Release(), lease.ErrLost)
		require.Equal(t, []string{"first", ""}, look.who())

		hide(path)
		second, err := operator.Create(t.Context(), path+"/latch-", []byte("second"), framework.EphemeralSequential)
		require.NoError(t, err)
		show(path)
		w.After(untold)
		require.Equal(t, []string{"first", "", "second"}, look.who())
		w.Remove(operator, second.Path)
		w.Settle()
		require.Equal(t, []string{"first", "", "second", ""}, look.who())
	})
}
