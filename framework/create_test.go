package framework_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestCreateModes(t *testing.T) {
	for mode, want := range map[framework.Mode]zktest.NodeInfo{
		framework.Persistent:           {Path: "/ns/n-"},
		framework.PersistentSequential: {Path: "/ns/n-0000000000"},
		framework.Ephemeral:            {Path: "/ns/n-", EphemeralOwner: 1},
		framework.EphemeralSequential:  {Path: "/ns/n-0000000000", EphemeralOwner: 1},
		framework.Container:            {Path: "/ns/n-", Container: true},
	} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s, func(cfg *framework.Config) { cfg.Namespace = "ns" })
				made, err := c.Create(t.Context(), "/n-", []byte("data"), mode)
				require.NoError(t, err)
				info, ok := s.Node(want.Path)
				require.True(t, ok, s.Dump())
				assert.Equal(t, strings.TrimPrefix(want.Path, "/ns"), made.Path)
				assert.Equal(t, info.Czxid, made.Czxid)
				assert.Equal(t, c.Session().ID(), made.Session)
				assert.Equal(t, want.EphemeralOwner != 0, info.EphemeralOwner == made.Session)
				assert.Equal(t, want.Container, info.Container)
				assert.Equal(t, "data", string(info.Data))
				got, stat, err := c.Get(t.Context(), made.Path)
				require.NoError(t, err)
				assert.Equal(t, "data", string(got))
				assert.Equal(t, made.Czxid, stat.Czxid)
				assert.Equal(t, info.EphemeralOwner, stat.EphemeralOwner)
				assert.EqualValues(t, 4, stat.DataLength)
				assert.WithinDuration(t, time.Now(), stat.Ctime, time.Minute)
			})
		})
	}
}

// Creates of one path at a time: each must get the czxid of its own node, which is what
// fencing tokens are made of.
func TestCreatesOfOnePathAtATimeGetTheirOwnCzxid(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		_, err := c.Create(t.Context(), "/q", nil, framework.Persistent)
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				made, err := c.Create(t.Context(), "/q/n-", nil, framework.EphemeralSequential)
				assert.NoError(t, err)
				info, ok := s.Node(made.Path)
				assert.True(t, ok)
				assert.Equal(t, info.Czxid, made.Czxid)
			})
		}
		all.Wait()
		assert.Len(t, s.Children("/q"), 200)
	})
}

func TestCreateWithTimeToLive(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		made, err := c.Create(t.Context(), "/n-", nil, framework.PersistentSequential, framework.WithTTL(time.Minute))
		require.NoError(t, err)
		info, ok := s.Node("/n-0000000000")
		require.True(t, ok)
		assert.Equal(t, time.Minute, info.TTL)
		assert.Equal(t, info.Czxid, made.Czxid)
		time.Sleep(5 * time.Minute)
		_, ok = s.Node(made.Path)
		assert.False(t, ok)
		for _, ttl := range []time.Duration{-1, time.Microsecond, 500 * time.Microsecond} {
			_, err := c.Create(t.Context(), "/t", nil, framework.Persistent, framework.WithTTL(ttl))
			assert.ErrorIs(t, err, framework.ErrInvalidArgument, "%v", ttl)
		}
		for _, mode := range []framework.Mode{framework.Ephemeral, framework.EphemeralSequential, framework.Container} {
			_, err := c.Create(t.Context(), "/t", nil, mode, framework.WithTTL(time.Minute))
			assert.ErrorIs(t, err, framework.ErrInvalidArgument, "%v", mode)
		}
		_, err = c.Create(t.Context(), "/t", nil, framework.Mode(17))
		assert.ErrorIs(t, err, framework.ErrInvalidArgument)
	})
}

func TestCreateWithTimeToLiveOnAServerThatForbidsIt(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		_, err := c.Create(t.Context(), "/t", nil, framework.Persistent, framework.WithTTL(time.Minute))
		require.ErrorIs(t, err, framework.ErrUnsupported)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
	}, zktest.WithoutTTL())
}

func TestCreateParents(t *testing.T) {
	for name, tc := range map[string]struct {
		setting setting
		view    string
		want    []string
	}{
		"at the root":           {func(*framework.Config) {}, "", []string{"/a", "/a/b"}},
		"in a namespace":        {func(cfg *framework.Config) { cfg.Namespace = "n/s" }, "", []string{"/n", "/n/s", "/n/s/a", "/n/s/a/b"}},
		"in a chroot":           {func(cfg *framework.Config) { cfg.Chroot = "/c/r" }, "", []string{"/c", "/c/r", "/c/r/a", "/c/r/a/b"}},
		"in a view":             {func(*framework.Config) {}, "v/w", []string{"/v", "/v/w", "/v/w/a", "/v/w/a/b"}},
		"in a view of a chroot": {func(cfg *framework.Config) { cfg.Servers[0] += "/c" }, "v", []string{"/c", "/c/v", "/c/v/a", "/c/v/a/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s, tc.setting)
				if tc.view != "" {
					view, err := c.Namespace(tc.view)
					require.NoError(t, err)
					c = view
				}
				require.NoError(t, c.CreateParents(t.Context(), "/a/b/lock-"))
				require.NoError(t, c.CreateParents(t.Context(), "/a/b/lock-"), "again")
				for _, path := range tc.want {
					_, ok := s.Node(path)
					assert.True(t, ok, "%s in %s", path, s.Dump())
				}
				info, _ := s.Node(tc.want[len(tc.want)-1])
				assert.True(t, info.Container)
				assert.Equal(t, tc.want[len(tc.want)-1]+"/x", c.FullPath("/a/b/x"))
			})
		})
	}
}

func TestCreateParentsOfATopLevelNodeInAView(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		view, err := connect(t, s).Namespace("v")
		require.NoError(t, err)
		require.NoError(t, view.CreateParents(t.Context(), "/lock"))
		_, err = view.Create(t.Context(), "/lock", nil, framework.Ephemeral)
		require.NoError(t, err)
	})
}

// Servers before 3.5 have no containers, and close the connection of a client that
// wants one.
func TestCreateParentsOnAServerWithoutContainers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		require.NoError(t, c.CreateParents(t.Context(), "/a/b/lock-"))
		info, ok := s.Node("/a/b")
		require.True(t, ok)
		assert.False(t, info.Container)
		require.NoError(t, c.Session().Err())
		synctest.Wait() // for the client's own sync: writing it to a server that hangs up could cost the answer
		_, err := c.Create(t.Context(), "/x", nil, framework.Container)
		require.ErrorIs(t, err, framework.ErrUnsupported)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
	}, zktest.WithUnsupported(zktest.OpCreateContainer))
}

// Older ones do not even answer.
func TestCreateParentsOnAServerThatHangsUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		s.On(zktest.OpCreateContainer, "").Always().Cut()
		c := connect(t, s)
		require.NoError(t, c.CreateParents(t.Context(), "/a/b/lock-"))
		_, ok := s.Node("/a/b")
		assert.True(t, ok)
		assert.NoError(t, c.Session().Err())
	})
}

func TestCreateParentsWhoseAnswersAreDropped(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		s.On(zktest.OpCreateContainer, "/a/b").After().Cut()
		s.On(zktest.OpCreateContainer, "/a/b/c").Cut()
		s.On(zktest.OpExists, "/a/b").Cut()
		require.NoError(t, c.CreateParents(t.Context(), "/a/b/c/lock-"))
		info, ok := s.Node("/a/b/c")
		require.True(t, ok)
		assert.True(t, info.Container)
	})
}

// Scenario 32: the server removes empty containers while they are being made.
func TestCreateParentsRacesWithTheReaper(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for range 30 {
					time.Sleep(time.Duration(i+1) * time.Millisecond)
					for {
						if !assert.NoError(t, c.CreateParents(t.Context(), "/a/b/c/n-")) {
							return
						}
						made, err := c.Create(t.Context(), "/a/b/c/n-", nil, framework.EphemeralSequential)
						if err == nil {
							assert.NoError(t, c.Delete(t.Context(), made.Path, framework.AnyVersion))
							break
						}
						if !assert.ErrorIs(t, err, framework.ErrNoNode) {
							return
						}
					}
				}
			})
		}
		all.Wait()
		time.Sleep(time.Second)
		_, there := s.Node("/a")
		assert.False(t, there, "all reaped at the end")
	}, zktest.WithReapInterval(3*time.Millisecond))
}

func TestParentsCannotBeMadeUnderAnEphemeralNode(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		_, err := c.Create(t.Context(), "/e", nil, framework.Ephemeral)
		require.NoError(t, err)
		err = c.CreateParents(t.Context(), "/e/a/n-")
		require.ErrorIs(t, err, framework.ErrNoChildrenForEphemerals)
		assert.Contains(t, err.Error(), "/e/a")
	})
}
