package framework_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// longStreak is how many parents in a row that were missing, or were there, make the
// client take that for granted.
const longStreak = 8

// joins has a contender join each queue while the server answers nothing.
func (p own) joins(t *testing.T, parents ...string) []<-chan result[struct{}] {
	t.Helper()
	return held(p, func() []<-chan result[struct{}] { return p.oneByOne(parents...) })
}

// oneByOne has a contender join each queue, as far as it can without an answer.
func (p own) oneByOne(parents ...string) (all []<-chan result[struct{}]) {
	for _, parent := range parents {
		all = append(all, startErr(func() error { return join(context.Background(), p.Client, parent) }))
		synctest.Wait()
	}
	return all
}

// haveJoined asserts that they have, that each has one node, and what that has cost.
func (p own) haveJoined(t *testing.T, parents []string, all []<-chan result[struct{}], sent map[zktest.Op]int) {
	t.Helper()
	nodes := map[string]int{}
	for i, parent := range parents {
		require.NoError(t, (<-all[i]).err)
		nodes[parent]++
	}
	synctest.Wait()
	for parent, n := range nodes {
		assert.Len(t, p.server.Children(parent), n, parent)
	}
	assert.Equal(t, sent, requests(p.server))
}

// after runs a test with a client that has found some missing parents in a row, or some
// that were there.
func after(t *testing.T, missing, there int, test func(t *testing.T, p own, other *framework.Client)) {
	t.Helper()
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		p, other := own{place: place{connect(t, s), s}}, connectAs(t, s, "other")
		for i := range missing {
			require.NoError(t, join(t.Context(), p.Client, fmt.Sprintf("/missing%d", i)))
		}
		for i := range there {
			persistent(t, other, fmt.Sprintf("/there%d", i))
			require.NoError(t, join(t.Context(), p.Client, fmt.Sprintf("/there%d", i)))
		}
		s.ResetCounts()
		test(t, p, other)
	})
}

func queuesOf(name string, many int) (all []string) {
	for i := range many {
		all = append(all, fmt.Sprintf("/%s%d", name, i))
	}
	return all
}

// inPairs is how many contenders are under way with their parents before others wait.
const inPairs = alone / 2

func TestParentsTravelWithTheirNodes(t *testing.T) {
	after(t, longStreak, 0, func(t *testing.T, p own, _ *framework.Client) {
		queues := queuesOf("fresh", inPairs+5)
		p.haveJoined(t, queues, p.joins(t, queues...), map[zktest.Op]int{
			zktest.OpCreateContainer: inPairs, zktest.OpCreate: inPairs, zktest.OpMulti: 1,
		})
	})
}

// A client that cannot tell whether the next parent is missing sends it alone, and so
// the node.
func TestParentsOfAShortStreakTravelAlone(t *testing.T) {
	after(t, longStreak-1, 0, func(t *testing.T, p own, _ *framework.Client) {
		queues := queuesOf("fresh", alone+5)
		p.haveJoined(t, queues, p.joins(t, queues...), map[zktest.Op]int{
			zktest.OpCreateContainer: alone + 5, zktest.OpCreate: alone + 5,
		})
	})
}

// Two nodes of one parent do not travel together, and neither goes ahead of it.
func TestParentThatWaitsGoesAheadOfItsNodes(t *testing.T) {
	after(t, longStreak, 0, func(t *testing.T, p own, _ *framework.Client) {
		const twice = inPairs + 1
		queues := append(queuesOf("fresh", inPairs+3), fmt.Sprint("/fresh", twice))
		p.haveJoined(t, queues, p.joins(t, queues...), map[zktest.Op]int{
			zktest.OpCreateContainer: inPairs + 1, zktest.OpCreate: inPairs + 2, zktest.OpMulti: 1,
		})
	})
}

// A parent that is there after all has the group refused, and the next ones are not
// made any more. The path does not stay out of groups.
func TestParentThatIsThereInAGroup(t *testing.T) {
	after(t, longStreak, 0, func(t *testing.T, p own, other *framework.Client) {
		queues := queuesOf("fresh", inPairs+3)
		persistent(t, other, queues[inPairs+1])
		p.server.ResetCounts()
		p.haveJoined(t, queues, p.joins(t, queues...), map[zktest.Op]int{
			zktest.OpCreateContainer: inPairs + 3, zktest.OpCreate: inPairs + 3, zktest.OpMulti: 1,
		})
		p.server.ResetCounts()
		again := append(queuesOf("fresh", inPairs+3), queuesOf("missing", 3)...)
		p.haveJoined(t, nil, p.joins(t, again...), map[zktest.Op]int{zktest.OpCreate: alone, zktest.OpMulti: 1})
	})
}

// Nodes of parents that are not known travel together if the last ones were all there.
func TestNodesOfParentsThatAreThereForSure(t *testing.T) {
	after(t, 0, longStreak, func(t *testing.T, p own, other *framework.Client) {
		queues := queuesOf("known", alone+5)
		persistent(t, other, queues...)
		p.server.ResetCounts()
		p.haveJoined(t, queues, p.joins(t, queues...), map[zktest.Op]int{zktest.OpCreate: alone, zktest.OpMulti: 1})
	})
}

// One that is missing has the group refused, and is made.
func TestParentThatIsMissingInAGroup(t *testing.T) {
	after(t, 0, longStreak, func(t *testing.T, p own, other *framework.Client) {
		queues := queuesOf("known", alone+5)
		persistent(t, other, queues[:alone+4]...)
		p.server.ResetCounts()
		p.haveJoined(t, queues, p.joins(t, queues...), map[zktest.Op]int{
			zktest.OpCreate: alone + 5 + 1, zktest.OpMulti: 1, zktest.OpCreateContainer: 1,
		})
	})
}

// What is refused for a reason that stays does not have group after group refused.
func TestParentsThatHaveGroupsRefused(t *testing.T) {
	const rounds = 10
	for name, refused := range map[string]struct {
		missing, there int
		join           func(p own, round int) error
	}{
		"their own is missing": {longStreak, 0, func(p own, round int) error {
			return join(context.Background(), p.Client, fmt.Sprintf("/deep%d/er", round))
		}},
		"nobody makes them": {0, longStreak, func(p own, _ int) error {
			_, err := p.CreateProtected(context.Background(), "/none/n-", nil, framework.EphemeralSequential)
			if errors.Is(err, framework.ErrNoNode) {
				return nil
			}
			return fmt.Errorf("not %w: %w", framework.ErrNoNode, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			after(t, refused.missing, refused.there, func(t *testing.T, p own, _ *framework.Client) {
				for round := range rounds {
					known := append(queuesOf("missing", refused.missing), queuesOf("there", refused.there)...)
					all := held(p, func() []<-chan result[struct{}] {
						return append(p.oneByOne(slices.Concat(known, known)...), startErr(func() error { return refused.join(p, round) }))
					})
					for _, done := range all {
						require.NoError(t, (<-done).err)
					}
				}
				sent := requests(p.server)
				assert.GreaterOrEqual(t, sent[zktest.OpMulti], rounds)
				assert.Less(t, sent[zktest.OpCreate], rounds*(alone+4), "%v", sent)
			})
		})
	}
}

// Creates that are under way when a connection breaks say nothing of their parents.
func TestBreakMakesNoStreak(t *testing.T) {
	after(t, longStreak-1, 0, func(t *testing.T, p own, _ *framework.Client) {
		p.server.Stall("", true)
		all := p.oneByOne(queuesOf("broken", 2*longStreak)...)
		p.server.DropConnections("client")
		p.server.Stall("", false)
		for _, done := range all {
			require.NoError(t, (<-done).err)
		}
		assert.Equal(t, -1, framework.Streak(p.Client))
	})
}

// The result of a parent is longer than its create.
func TestParentsHaveRoomForTheirResults(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		p := own{place: place{connect(t, s, func(cfg *framework.Config) { cfg.MaxReplyBytes = 1000 }), s}}
		for i := range longStreak {
			require.NoError(t, join(t.Context(), p.Client, fmt.Sprintf("/missing%d", i)))
		}
		s.ResetCounts()
		queues := queuesOf("fresh", inPairs+5)
		p.haveJoined(t, queues, p.joins(t, queues...), map[zktest.Op]int{
			zktest.OpCreateContainer: inPairs, zktest.OpCreate: inPairs, zktest.OpMulti: 2,
		})
	})
}

// A caller that leaves while its create waits leaves that of the parent, which does no
// harm.
func TestCallerThatLeavesItsParentInTheQueue(t *testing.T) {
	after(t, longStreak, 0, func(t *testing.T, p own, _ *framework.Client) {
		ctx, leave := context.WithCancelCause(t.Context())
		var left <-chan result[struct{}]
		all := held(p, func() []<-chan result[struct{}] {
			all := p.oneByOne(queuesOf("fresh", inPairs+2)...)
			left = startErr(func() error { return join(ctx, p.Client, "/left") })
			synctest.Wait()
			leave(errStopped)
			synctest.Wait()
			return all
		})
		require.ErrorIs(t, (<-left).err, errStopped)
		for _, done := range all {
			require.NoError(t, (<-done).err)
		}
		time.Sleep(time.Second)
		assert.Empty(t, p.server.Children("/left"))
		require.NoError(t, join(t.Context(), p.Client, "/left"))
		assert.Len(t, p.server.Children("/left"), 1)
	})
}
