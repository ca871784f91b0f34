package framework_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A listing is the answer to one.
type listing = result[[]string]

// lists creates a node on each of the first paths while the server answers nothing,
// each with a listing behind every attempt. These answers come last.
func (p own) lists(t *testing.T, many int) (nodes []<-chan result[framework.Created], answers []chan listing) {
	t.Helper()
	return p.listsAnd(t, many, func(int) {})
}

// listsAnd calls a function behind each listing.
func (p own) listsAnd(t *testing.T, many int, then func(i int)) (nodes []<-chan result[framework.Created], answers []chan listing) {
	t.Helper()
	view := kit.Of(p.In(p.Session()))
	nodes = held(p, func() (all []<-chan result[framework.Created]) {
		for i := range many {
			to := make(chan listing, 4)
			answers = append(answers, to)
			behind := func() {
				assert.True(t, view.SendChildren(parent(i), func(names []string, err error) { to <- listing{value: names, err: err} }))
				then(i)
			}
			all = append(all, start(func() (framework.Created, error) {
				return kit.Of(p.Client).CreateSent(within(t, time.Minute), at(i), nil, framework.EphemeralSequential, func() {}, behind)
			}))
			synctest.Wait()
		}
		return all
	})
	return nodes, answers
}

// received returns what comes from a channel soon.
func received[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(time.Minute):
		require.Fail(t, "no answer")
	}
	return value
}

// areShown asserts that each create has made its node, and that the listing behind it
// shows that.
func (p own) areShown(t *testing.T, nodes []<-chan result[framework.Created], answers []chan listing) {
	t.Helper()
	for i := range nodes {
		p.isThere(t, i, <-nodes[i])
		shown := received(t, answers[i])
		require.NoError(t, shown.err)
		assert.Equal(t, p.server.Children(p.FullPath(parent(i))), shown.value)
	}
	synctest.Wait()
	for i := range answers {
		assert.Empty(t, answers[i], "one answer to each")
	}
}

// areMade asserts that each create has made its node, in the end, and that each listing
// was answered, be it with the error of a connection that broke. Then it deletes them.
func (p own) areMade(t *testing.T, nodes []<-chan result[framework.Created], answers []chan listing) {
	t.Helper()
	time.Sleep(timeout)
	for i := range nodes {
		r := <-nodes[i]
		p.isThere(t, i, r)
		received(t, answers[i])
		require.NoError(t, p.DeleteGuaranteed(t.Context(), r.value.Path))
	}
}

func TestListingsBehindAGroupTravelTogether(t *testing.T) {
	for behind, sent := range map[int]map[zktest.Op]int{
		1:  {zktest.OpCreate: alone + 1, zktest.OpGetChildren2: alone + 1},
		5:  {zktest.OpMulti: 1, zktest.OpMultiRead: 1, zktest.OpCreate: alone, zktest.OpGetChildren2: alone},
		17: {zktest.OpMulti: 1, zktest.OpMultiRead: 1, zktest.OpCreate: alone, zktest.OpGetChildren2: alone + 1},
		18: {zktest.OpMulti: 1, zktest.OpMultiRead: 2, zktest.OpCreate: alone, zktest.OpGetChildren2: alone},
	} {
		t.Run(fmt.Sprint(behind), func(t *testing.T) {
			withOwn(t, alone+behind, func(t *testing.T, p own) {
				nodes, answers := p.lists(t, alone+behind)
				p.areShown(t, nodes, answers)
				assert.Equal(t, sent, requests(p.server))

				p.server.ResetCounts()
				later := newSender(p.place)
				require.True(t, later.list("/queue"))
				require.NoError(t, received(t, later.lists))
				assert.Equal(t, 1, p.server.Count(zktest.OpGetChildren2), "it waits for nothing")
			})
		})
	}
}

// One that is refused says so, and the others do not.
func TestListingsThatAreRefusedOneByOne(t *testing.T) {
	withOwn(t, alone+5, func(t *testing.T, p own) {
		const refused = alone + 2
		secret := []framework.ACL{{Perms: framework.PermCreate | framework.PermDelete, Scheme: "world", ID: "anyone"}}
		_, err := p.SetACL(t.Context(), parent(refused), secret, framework.AnyVersion)
		require.NoError(t, err)
		p.server.ResetCounts()
		nodes, answers := p.lists(t, alone+5)
		for i := range nodes {
			p.isThere(t, i, <-nodes[i])
			if shown := received(t, answers[i]); i == refused {
				require.ErrorIs(t, shown.err, framework.ErrNoAuth)
			} else {
				require.NoError(t, shown.err)
				assert.Len(t, shown.value, 1)
			}
		}
		assert.Equal(t, alone, p.server.Count(zktest.OpGetChildren2))
	})
}

// What the answer does not show is asked for again, one by one.
func TestListingsThatAreRefusedTogether(t *testing.T) {
	for name, fault := range map[string]func(r *zktest.Rule){
		"overloaded":    func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) },
		"refused":       func(r *zktest.Rule) { r.Fail(zktest.NoAuth) },
		"unknown error": func(r *zktest.Rule) { r.Fail(zktest.Code(-77)) },
	} {
		t.Run(name, func(t *testing.T) {
			withOwn(t, alone+5, func(t *testing.T, p own) {
				fault(p.server.On(zktest.OpMultiRead, ""))
				nodes, answers := p.lists(t, alone+5)
				p.areShown(t, nodes, answers)
				assert.Equal(t, alone+5, p.server.Count(zktest.OpGetChildren2))
			})
		})
	}
}

// Together the listings are larger than an answer may be, in one case.
func TestListingsOfSeveralNodes(t *testing.T) {
	for limit, again := range map[int]int{framework.DefaultMaxReplyBytes: 0, 1000: 5} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			withOwn(t, alone+5, func(t *testing.T, p own) {
				for i := range alone + 5 {
					for range 5 {
						_, err := p.Create(t.Context(), parent(i)+"/"+strings.Repeat("x", 50), nil, framework.PersistentSequential)
						require.NoError(t, err)
					}
				}
				p.server.ResetCounts()
				nodes, answers := p.lists(t, alone+5)
				for i := range nodes {
					require.NoError(t, (<-nodes[i]).err)
					shown := received(t, answers[i])
					require.NoError(t, shown.err)
					assert.ElementsMatch(t, p.server.Children(p.FullPath(parent(i))), shown.value)
				}
				assert.Equal(t, 1, p.server.Count(zktest.OpMultiRead))
				assert.Equal(t, alone+again, p.server.Count(zktest.OpGetChildren2))
			}, func(cfg *framework.Config) { cfg.MaxReplyBytes = limit })
		})
	}
}

// A server before 3.6 does not know the request, says so, and hangs up.
func TestOldServersAreAskedOnceToListTogether(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		p := own{place: place{connect(t, s), s}}
		for i := range alone + 5 {
			require.NoError(t, p.CreateParents(t.Context(), at(i)))
		}
		for range 3 {
			nodes, answers := p.lists(t, alone+5)
			p.areMade(t, nodes, answers)
		}
		assert.Equal(t, 1, s.Count(zktest.OpMultiRead))
		assert.NoError(t, p.Session().Err())
	}, zktest.WithUnsupported(zktest.OpMultiRead))
}

// Nor does one that hangs up without a word, but then it is not certain: a connection
// may break, or several.
func TestServersThatHangUpWhenAskedToListTogether(t *testing.T) {
	for name, breaks := range map[string]struct {
		first, then int // before such a request is answered
		asked       int
	}{
		"always":       {10, 0, 3},
		"now and then": {2, 2, 10},
	} {
		t.Run(name, func(t *testing.T) {
			withOwn(t, alone+5, func(t *testing.T, p own) {
				asked := 0
				p.server.SetFaults(func(c zktest.Call) zktest.Action {
					if c.Op != zktest.OpMultiRead || c.Phase != zktest.PhaseBeforeApply {
						return zktest.Pass
					}
					if asked++; asked <= breaks.first || asked > breaks.first+1 && asked <= breaks.first+1+breaks.then {
						return zktest.CutConnection
					}
					return zktest.Pass
				})
				for range 10 {
					nodes, answers := p.lists(t, alone+5)
					p.areMade(t, nodes, answers)
				}
				assert.Equal(t, breaks.asked, asked)
				assert.NoError(t, p.Session().Err())
			})
		})
	}
}

// Several requests that break with one connection count as one.
func TestBreakCountsOnceAgainstListings(t *testing.T) {
	const many = alone + 40 // in three requests
	withOwn(t, many, func(t *testing.T, p own) {
		p.server.On(zktest.OpMultiRead, "").Cut()
		for _, asked := range []int{0, 3} {
			nodes, answers := p.lists(t, many)
			p.areMade(t, nodes, answers)
			assert.Equal(t, asked, p.server.Count(zktest.OpMultiRead))
		}
	})
}

// When the connection breaks each listing is told so once, sent or not.
func TestListingsThatLoseTheirConnection(t *testing.T) {
	t.Run("under way", func(t *testing.T) {
		withOwn(t, alone+5, func(t *testing.T, p own) {
			p.server.On(zktest.OpMultiRead, "").After().Cut()
			nodes, answers := p.lists(t, alone+5)
			for i := range nodes {
				p.isThere(t, i, <-nodes[i])
				if shown := received(t, answers[i]); i >= alone {
					require.Error(t, shown.err)
				}
				assert.Empty(t, answers[i])
			}
		})
	})
	t.Run("not sent", func(t *testing.T) {
		withOwn(t, alone+3, func(t *testing.T, p own) {
			suspended, dropped := p.Session().Suspended(), false
			p.server.On(zktest.OpCreate, "").Always().Delay(200 * time.Millisecond) // so nothing is sent where answers come
			nodes, answers := p.listsAnd(t, alone+3, func(i int) {
				if i == alone+2 && !dropped {
					dropped = true
					p.server.DropConnections("")
					<-suspended
				}
			})
			for i := range nodes {
				p.isThere(t, i, <-nodes[i])
				require.Error(t, received(t, answers[i]).err)
			}
			assert.Zero(t, p.server.Count(zktest.OpMultiRead))
		})
	})
}
