package framework_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// join makes a node below a parent as a contender does.
func join(ctx context.Context, c *framework.Client, parent string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	attempts := 0
	return kit.Of(c).WithParents(ctx, parent, func() error {
		if attempts++; attempts > 4 {
			return errors.New("no end of attempts")
		}
		_, err := kit.Of(c).CreateSent(ctx, parent+"/n-", nil, framework.EphemeralSequential, func() {}, nil)
		return err
	})
}

// takes asserts what a join costs: creates of containers and of the node, and reads.
func takes(t *testing.T, s *zktest.Server, parent string, c *framework.Client, containers, creates, reads int) {
	t.Helper()
	s.ResetCounts()
	require.NoError(t, join(t.Context(), c, parent))
	synctest.Wait()
	want := map[zktest.Op]int{zktest.OpCreateContainer: containers, zktest.OpCreate: creates, zktest.OpExists: reads}
	maps.DeleteFunc(want, func(_ zktest.Op, n int) bool { return n == 0 })
	assert.Equal(t, want, requests(s), parent)
}

func persistent(t *testing.T, c *framework.Client, paths ...string) {
	t.Helper()
	for _, path := range paths {
		_, err := c.Create(t.Context(), path, nil, framework.Persistent)
		require.NoError(t, err)
	}
}

// removeAll deletes a node and what is below it.
func removeAll(t *testing.T, c *framework.Client, path string) {
	t.Helper()
	children, _, err := c.Children(t.Context(), path)
	require.NoError(t, err)
	for _, child := range children {
		removeAll(t, c, path+"/"+child)
	}
	require.NoError(t, c.Delete(t.Context(), path, framework.AnyVersion))
}

// A parent that is missing costs one request more than one that is known, and no round
// trip; one that exists although it is not known costs that once in a row.
func TestCostOfParents(t *testing.T) {
	for name, inside := range map[string]setting{
		"at the root":                func(*framework.Config) {},
		"in a namespace of a chroot": func(cfg *framework.Config) { cfg.Chroot, cfg.Namespace = "/apps", "billing/eu" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c, other := connect(t, s, inside), connectAs(t, s, "other", inside)
				for i := range 20 {
					takes(t, s, fmt.Sprint("/missing", i), c, 1, 1, 0)
					takes(t, s, fmt.Sprint("/missing", i), c, 0, 1, 0)
				}
				persistent(t, other, "/first", "/second")
				takes(t, s, "/first", c, 1, 1, 0)
				takes(t, s, "/second", c, 0, 1, 0)
				takes(t, s, "/second", c, 0, 1, 0)
				takes(t, s, "/another", c, 1, 2, 0)
				takes(t, s, "/and/one/more", c, 6, 2, 5)
				takes(t, s, "/missing", c, 1, 1, 0)
				info, _ := s.Node(c.FullPath("/another"))
				assert.True(t, info.Container)

				removeAll(t, other, "/missing")
				takes(t, s, "/missing", c, 1, 2, 0)

				require.True(t, s.ExpireSession(c.Session().ID()))
				time.Sleep(timeout)
				takes(t, s, "/second", c, 0, 1, 0)

				view, err := c.Namespace("view")
				require.NoError(t, err)
				require.NoError(t, join(t.Context(), view, "/x"))
				takes(t, s, "/second", view, 1, 1, 0)
			})
		})
	}
}

func TestCostOfAParentThatWasRead(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		persistent(t, c, "/exists")
		kit.Of(c).RecordParent("/exists", true)
		takes(t, s, "/exists", c, 0, 1, 0)
		removeAll(t, c, "/exists")
		kit.Of(c).RecordParent("/exists", false)
		takes(t, s, "/exists", c, 1, 1, 0)
		require.NoError(t, c.CreateParents(t.Context(), "/made/n-"))
		takes(t, s, "/made", c, 0, 1, 0)
	})
}

// All that come at a time share the create of their parent.
func TestCreatesOfOneMissingParentAtATime(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		s.ResetCounts()
		s.On(zktest.OpCreateContainer, "/p").Before().Delay(time.Second) // all begin meanwhile
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() { assert.NoError(t, join(t.Context(), c, "/p")) })
		}
		all.Wait()
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreateContainer: 1, zktest.OpCreate: 200}, requests(s))
	})
}

// However the create of the parent ends, the node is made once.
func TestParentWhoseCreateFails(t *testing.T) {
	for name, fault := range map[string]func(r *zktest.Rule){
		"refused for now":              func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) },
		"refused":                      func(r *zktest.Rule) { r.Fail(zktest.NoAuth) },
		"not carried out":              func(r *zktest.Rule) { r.Cut() },
		"carried out, and then broken": func(r *zktest.Rule) { r.After().Cut() },
		"its answer is dropped":        func(r *zktest.Rule) { r.DropReply() },
		"it is never answered":         func(r *zktest.Rule) { r.Mute() },
		"it comes late":                func(r *zktest.Rule) { r.Before().Delay(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				fault(s.On(zktest.OpCreateContainer, "/p"))
				require.NoError(t, join(t.Context(), c, "/p"))
				require.NoError(t, c.Session().Err())
				assert.Len(t, s.Children("/p"), 1, s.Dump())
				takes(t, s, "/p", c, 0, 1, 0)
			})
		})
	}
}

// A client that may not make the parent can use it, and is told if it is missing.
func TestParentThatMayNotBeMade(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		owner := connectAs(t, s, "owner")
		persistent(t, owner, "/closed", "/closed/p", "/closed/q")
		_, err := owner.SetACL(t.Context(), "/closed", framework.WorldACL(framework.PermRead), framework.AnyVersion)
		require.NoError(t, err)
		c := connect(t, s)
		takes(t, s, "/closed/p", c, 1, 1, 0)
		takes(t, s, "/closed/p", c, 0, 1, 0)
		require.ErrorIs(t, join(t.Context(), c, "/closed/none"), framework.ErrNoAuth)
		require.ErrorIs(t, join(t.Context(), c, "/closed/none"), framework.ErrNoAuth)
		takes(t, s, "/closed/q", c, 0, 1, 0)
	})
}

func TestParentsThatAreEphemeral(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		_, err := c.Create(t.Context(), "/e", nil, framework.Ephemeral)
		require.NoError(t, err)
		for range 2 {
			require.ErrorIs(t, join(t.Context(), c, "/e"), framework.ErrNoChildrenForEphemerals)
			require.ErrorIs(t, join(t.Context(), c, "/e/p"), framework.ErrNoChildrenForEphemerals)
		}
	})
}

// Each container that is asked for breaks the connection, so the client asks until it
// has an answer. With a create of a node behind it the answer may be dropped.
func TestParentsOnAServerWithoutContainers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		persistent(t, c, "/exists")
		require.NoError(t, join(t.Context(), c, "/exists"))
		for i := range 5 {
			require.NoError(t, join(t.Context(), c, fmt.Sprint("/missing", i)))
			require.NoError(t, join(t.Context(), c, fmt.Sprint("/a", i, "/b")))
		}
		assert.LessOrEqual(t, s.Count(zktest.OpCreateContainer), 3)
		require.NoError(t, c.Session().Err())
	}, zktest.WithUnsupported(zktest.OpCreateContainer))
}

// A server that only hangs up may do so for another reason. What exists is used all the
// same, without another try.
func TestParentsOnAServerThatHangsUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		s.On(zktest.OpCreateContainer, "").Cut()
		c := connect(t, s)
		persistent(t, c, "/first", "/second", "/third")
		require.NoError(t, join(t.Context(), c, "/first"))
		takes(t, s, "/second", c, 0, 1, 0)
		takes(t, s, "/third", c, 0, 1, 0)
		s.On(zktest.OpCreateContainer, "").Always().Cut()
		require.NoError(t, join(t.Context(), c, "/missing"))
		require.NoError(t, c.Session().Err())
	})
}

// A caller whose time is up returns; others that wait for its create do not depend on
// it.
func TestCallerLeavesWhileItsParentIsMade(t *testing.T) {
	for name, stop := range map[string]func(s *zktest.Server) (resume func()){
		"without an answer": func(s *zktest.Server) func() {
			s.On(zktest.OpCreateContainer, "/p").Before().Delay(2 * time.Second)
			return func() {}
		},
		"without a connection": func(s *zktest.Server) func() {
			suspend(s, "client")
			return func() { s.RefuseConnections("client", false) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				resume := stop(s)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start := time.Now()
				var others sync.WaitGroup
				others.Go(func() {
					time.Sleep(time.Second / 2)
					assert.NoError(t, join(t.Context(), c, "/p"))
				})
				others.Go(func() {
					time.Sleep(time.Second / 4)
					soon, cancel := context.WithTimeout(t.Context(), time.Second/2)
					defer cancel()
					assert.ErrorIs(t, join(soon, c, "/p"), context.DeadlineExceeded)
					assert.Equal(t, 3*time.Second/4, time.Since(start))
				})
				require.ErrorIs(t, join(ctx, c, "/p"), context.DeadlineExceeded)
				assert.Equal(t, time.Second, time.Since(start))
				resume()
				others.Wait()
				time.Sleep(timeout)
				assert.Len(t, s.Children("/p"), 1, s.Dump())
				takes(t, s, "/p", c, 0, 1, 0)
			})
		})
	}
}

// What is remembered does not grow with the number of parents ever used; those that are
// used go on to be known.
func TestParentsThatAreRememberedAreBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		require.NoError(t, join(t.Context(), c, "/used"))
		require.NoError(t, join(t.Context(), c, "/unused"))
		for i := range 5 * framework.ParentsLimit {
			kit.Of(c).RecordParent(fmt.Sprint("/p", i), true)
			require.LessOrEqual(t, framework.RememberedParents(c), 2*framework.ParentsLimit)
			if i%(framework.ParentsLimit/2) == 0 {
				takes(t, s, "/used", c, 0, 1, 0)
			}
		}
		takes(t, s, "/unused", c, 1, 1, 0)
	})
}
