package framework_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// alone is how many calls are under way before others wait for them.
const alone = 8

// own are paths of their own below the path of a place.
type own struct {
	place
	data []byte // of the nodes
	told []int  // how often the create on each path was told that it was sent
}

// withOwn runs a test with some paths whose parents are known.
func withOwn(t *testing.T, many int, test func(t *testing.T, p own), settings ...setting) {
	t.Helper()
	protect(t, func(t *testing.T, p place) {
		for i := range many {
			require.NoError(t, p.CreateParents(t.Context(), at(i)))
		}
		p.server.ResetCounts()
		test(t, own{place: p, told: make([]int, many)})
	}, settings...)
}

func parent(i int) string { return fmt.Sprintf("/queue/%d", i) }
func at(i int) string     { return parent(i) + "/n-" }

// create creates a node on a path of its own.
func (p own) create(ctx context.Context, i int) <-chan result[framework.Created] {
	return start(func() (framework.Created, error) {
		return kit.Of(p.Client).CreateSent(ctx, at(i), p.data, framework.EphemeralSequential, func() { p.told[i]++ }, nil)
	})
}

// held returns whatever is called while the server answers nothing.
func held[T any](p own, calls func() []<-chan result[T]) []<-chan result[T] {
	p.server.Stall("", true)
	all := calls()
	synctest.Wait()
	p.server.Stall("", false)
	return all
}

// creates creates a node on each path, in this order, while the server answers nothing.
func (p own) creates(t *testing.T, paths ...int) []<-chan result[framework.Created] {
	t.Helper()
	return held(p, func() (all []<-chan result[framework.Created]) {
		for _, i := range paths {
			all = append(all, p.create(within(t, time.Minute), i))
			synctest.Wait()
		}
		return all
	})
}

// remove deletes one.
func (p own) remove(node framework.Created) <-chan result[struct{}] {
	return startErr(func() error { return p.DeleteGuaranteed(context.Background(), node.Path) })
}

// made creates a node on each path, and waits for them.
func (p own) made(t *testing.T, paths ...int) (nodes []framework.Created) {
	t.Helper()
	for _, done := range p.creates(t, paths...) {
		r := <-done
		require.NoError(t, r.err)
		nodes = append(nodes, r.value)
	}
	return nodes
}

// removes deletes nodes, in this order, while the server answers nothing.
func (p own) removes(nodes []framework.Created) []<-chan result[struct{}] {
	return held(p, func() (all []<-chan result[struct{}]) {
		for _, node := range nodes {
			all = append(all, p.remove(node))
			synctest.Wait()
		}
		return all
	})
}

// isThere asserts that a create has made exactly one node, and that it is the one.
func (p own) isThere(t *testing.T, i int, r result[framework.Created]) {
	t.Helper()
	require.NoError(t, r.err)
	names := p.server.Children(p.FullPath(parent(i)))
	require.Len(t, names, 1)
	assert.Equal(t, parent(i)+"/"+names[0], r.value.Path)
	node, _ := p.server.Node(p.FullPath(r.value.Path))
	assert.Equal(t, node.Czxid, r.value.Czxid)
	assert.Equal(t, p.Session().ID(), r.value.Session)
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func TestWhatComesWhileOthersAreUnderWayTravelsTogether(t *testing.T) {
	withOwn(t, alone+7, func(t *testing.T, p own) {
		var nodes []framework.Created
		for i, done := range p.creates(t, upTo(alone+7)...) {
			r := <-done
			p.isThere(t, i, r)
			nodes = append(nodes, r.value)
		}
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreate: alone, zktest.OpMulti: 1}, requests(p.server))
		assert.Equal(t, nodes[alone].Czxid, nodes[alone+6].Czxid)
		assert.Equal(t, slices.Repeat([]int{1}, alone+7), p.told)

		p.server.ResetCounts()
		for _, done := range p.removes(nodes) {
			require.NoError(t, (<-done).err)
		}
		assert.Equal(t, map[zktest.Op]int{zktest.OpDelete: alone + 1, zktest.OpMulti: 1}, requests(p.server), "deletes have a flight of their own")
	})
}

// Two nodes of one transaction have one czxid, which is the token of a lease.
func TestCreatesOfOneParentDoNotTravelTogether(t *testing.T) {
	withOwn(t, alone+2, func(t *testing.T, p own) {
		tokens := map[int64]bool{}
		for _, done := range p.creates(t, append(upTo(alone), alone, alone, alone+1, alone, alone)...) {
			r := <-done
			require.NoError(t, r.err)
			tokens[r.value.Czxid] = true
		}
		assert.Len(t, tokens, alone+5)
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreate: alone + 5}, requests(p.server), "and none of them waits for others")
	})
}

// The other members of a group that is refused because of one are made all the same,
// and what is to follow each follows the attempt that succeeds.
func TestRefusedGroupIsRepeatedAlone(t *testing.T) {
	withOwn(t, alone+4, func(t *testing.T, p own) {
		const missing = alone + 2
		require.NoError(t, p.Delete(t.Context(), parent(missing), framework.AnyVersion))
		p.server.ResetCounts()
		for i, done := range p.creates(t, upTo(alone+4)...) {
			if r := <-done; i != missing {
				p.isThere(t, i, r)
			} else {
				require.ErrorIs(t, r.err, framework.ErrNoNode)
			}
		}
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreate: alone + 4, zktest.OpMulti: 1}, requests(p.server))
		assert.Equal(t, []int{2, 2, 2, 2}, p.told[alone:])
	})
}

// What is refused for all alike, and certainly had no effect, is repeated as it would
// be alone.
func TestGroupThatIsThrottled(t *testing.T) {
	withOwn(t, alone+3, func(t *testing.T, p own) {
		p.server.On(zktest.OpMulti, "").Fail(zktest.ThrottledOp)
		for i, done := range p.creates(t, upTo(alone+3)...) {
			p.isThere(t, i, <-done)
		}
	})
}

// After an unknown outcome each member is looked for by its own id.
func TestGroupOfUnknownOutcome(t *testing.T) {
	for name, fault := range map[string]func(r *zktest.Rule){
		"not carried out": func(r *zktest.Rule) { r.Cut() },
		"carried out":     func(r *zktest.Rule) { r.After().Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			withOwn(t, alone+3, func(t *testing.T, p own) {
				fault(p.server.On(zktest.OpMulti, ""))
				var nodes []framework.Created
				for i, done := range p.creates(t, upTo(alone+3)...) {
					r := <-done
					p.isThere(t, i, r)
					nodes = append(nodes, r.value)
				}
				fault(p.server.On(zktest.OpMulti, ""))
				for _, done := range p.removes(nodes) {
					<-done
				}
				time.Sleep(timeout)
				for i := range nodes {
					assert.Empty(t, p.server.Children(p.FullPath(parent(i))))
				}
			})
		})
	}
}

// A caller that leaves while its call waits has sent nothing.
func TestCallerThatLeavesTheQueue(t *testing.T) {
	withOwn(t, alone+3, func(t *testing.T, p own) {
		ctx, leave := context.WithCancelCause(t.Context())
		var left <-chan result[framework.Created]
		all := held(p, func() (all []<-chan result[framework.Created]) {
			for i := range alone + 2 {
				all = append(all, p.create(t.Context(), i))
				synctest.Wait()
			}
			left = p.create(ctx, alone+2)
			synctest.Wait()
			leave(errStopped)
			synctest.Wait()
			return all
		})
		r := <-left
		require.ErrorIs(t, r.err, errStopped)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(r.err))
		for i, done := range all {
			p.isThere(t, i, <-done)
		}
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreate: alone, zktest.OpMulti: 1}, requests(p.server), "and nobody looks for it")
		p.isThere(t, alone+2, <-p.create(t.Context(), alone+2))
	}, func(cfg *framework.Config) { cfg.MaxOutstanding, cfg.MaxEphemeralBytes = alone+3, (alone+3)*90 })
}

// What has waited when the connection breaks is sent over the next one, and is not
// unknown.
func TestQueueSurvivesItsConnection(t *testing.T) {
	withOwn(t, alone+4, func(t *testing.T, p own) {
		p.server.Stall("", true)
		var all []<-chan result[framework.Created]
		for i := range alone + 4 {
			all = append(all, p.create(within(t, time.Minute), i))
			synctest.Wait()
		}
		p.server.DropConnections("")
		p.server.Stall("", false)
		for i, done := range all {
			p.isThere(t, i, <-done)
		}
		assert.Equal(t, alone, p.server.Count(zktest.OpGetChildren2), "only what was sent is looked for")
	})
}

// On a long way nobody waits for the answers to others.
func TestNobodyWaitsLongInTheQueue(t *testing.T) {
	withOwn(t, alone+3, func(t *testing.T, p own) {
		const way = 200 * time.Millisecond
		p.server.On(zktest.OpCreate, "").Always().Delay(way)
		var all []<-chan result[framework.Created]
		for i := range alone + 3 {
			all = append(all, p.create(t.Context(), i))
			synctest.Wait()
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []int{1, 1, 1}, p.told[alone:])
		for i, done := range all {
			p.isThere(t, i, <-done)
		}
	})
}

// A path whose deletes are refused does not have further groups refused.
func TestPathThatIsRefusedStaysApart(t *testing.T) {
	withOwn(t, alone+4, func(t *testing.T, p own) {
		const refused = alone + 3
		readOnly := []framework.ACL{{Perms: framework.PermRead | framework.PermCreate, Scheme: "world", ID: "anyone"}}
		_, err := p.SetACL(t.Context(), parent(refused), readOnly, framework.AnyVersion)
		require.NoError(t, err)
		for _, sent := range []map[zktest.Op]int{
			{zktest.OpDelete: alone + 1 + 3, zktest.OpMulti: 1},
			{zktest.OpDelete: alone + 1 + 1, zktest.OpMulti: 1},
		} {
			nodes := p.made(t, upTo(alone+4)...)
			p.server.ResetCounts()
			for i, done := range p.removes(nodes) {
				if r := <-done; i == refused {
					require.ErrorIs(t, r.err, framework.ErrNoAuth)
				} else {
					require.NoError(t, r.err)
				}
			}
			assert.Equal(t, sent, requests(p.server))
		}
	})
}
