package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A place is where a protected node is made; CURATOR-264 was about clean-ups that
// forgot the chroot.
type place struct {
	*framework.Client
	server *zktest.Server
}

// protect runs a test below the root and below a chroot with a namespace.
func protect(t *testing.T, test func(t *testing.T, p place), settings ...setting) {
	t.Helper()
	t.Parallel()
	for name, inside := range map[string]setting{
		"at the root": func(*framework.Config) {},
		"in a namespace of a chroot": func(cfg *framework.Config) {
			cfg.Chroot, cfg.Namespace = "/apps/ours", "billing/eu"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s, append(settings, inside)...)
				require.NoError(t, c.CreateParents(t.Context(), "/queue/n-"))
				s.ResetCounts()
				test(t, place{c, s})
			})
		})
	}
}

func (p place) create(ctx context.Context) (framework.Created, error) {
	return p.CreateProtected(ctx, "/queue/n-", []byte("me"), framework.EphemeralSequential)
}

func (p place) nodes() []string { return p.server.Children(p.FullPath("/queue")) }

// only asserts that exactly one node is there, and that it is the one created.
func (p place) only(t *testing.T, made framework.Created) {
	t.Helper()
	nodes := p.nodes()
	require.Len(t, nodes, 1, p.server.Dump())
	assert.Equal(t, "/queue/"+nodes[0], made.Path)
	info, ok := p.server.Node(p.FullPath(made.Path))
	require.True(t, ok)
	assert.Equal(t, info.Czxid, made.Czxid)
	assert.Equal(t, info.EphemeralOwner, made.Session)
	assert.Equal(t, p.Session().ID(), made.Session)
	assert.Equal(t, "me", string(info.Data))
	id, ok := protection.Of(nodes[0])
	require.True(t, ok, "CURATOR-489: the name must tell its id")
	assert.True(t, id.Marks(nodes[0]))
	assert.Regexp(t, `^_c_[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-n-[0-9]{10}$`, nodes[0])
}

func TestProtectedCreate(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		made, err := p.create(t.Context())
		require.NoError(t, err)
		p.only(t, made)
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreate: 1}, requests(p.server), "one request and nothing else")
	})
}

func TestProtectedCreateIsForNodesThatCanBeFoundAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		for _, mode := range []framework.Mode{framework.Persistent, framework.Container} {
			_, err := c.CreateProtected(t.Context(), "/n-", nil, mode)
			assert.ErrorIs(t, err, framework.ErrInvalidArgument)
		}
		assert.Zero(t, s.Count(zktest.OpCreate))
	})
}

func TestProtectedCreateWhoseAnswerIsDroppedAdoptsTheNode(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		p.server.On(zktest.OpCreate, "").After().Cut()
		made, err := p.create(t.Context())
		require.NoError(t, err)
		p.only(t, made)
		assert.Equal(t, 1, p.server.Count(zktest.OpCreate))
	})
}

func TestProtectedCreateCutBeforeItIsAppliedIsRepeated(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		p.server.On(zktest.OpCreate, "").Cut()
		made, err := p.create(t.Context())
		require.NoError(t, err)
		p.only(t, made)
		assert.Equal(t, 1, p.server.Count(zktest.OpCreate))
	})
}

// Every request of the recovery is dropped once, and its answer too.
func TestProtectedCreateSurvivesFaultsWhileItLooksForTheNode(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		p.server.On(zktest.OpCreate, "").After().Cut()
		for _, op := range []zktest.Op{zktest.OpSync, zktest.OpGetChildren2, zktest.OpExists} {
			p.server.On(op, p.FullPath("/queue")).Cut()
			p.server.On(op, p.FullPath("/queue")).After().Cut()
		}
		made, err := p.create(t.Context())
		require.NoError(t, err)
		p.only(t, made)
		assert.Equal(t, 1, p.server.Count(zktest.OpCreate))
	})
}

// CURATOR-45, scenario 1: the call gives up, and its node is gone as soon as the server
// can be reached, in the same session.
func TestProtectedCreateThatGivesUpLeavesNothing(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		session := p.Session()
		p.server.RefuseConnections("client", true)
		p.server.On(zktest.OpCreate, "").After().Cut()
		begun := time.Now()
		_, err := p.create(within(t, 2*time.Second))
		assert.Equal(t, 2*time.Second, time.Since(begun))
		require.ErrorIs(t, err, errStopped)
		require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		assert.Equal(t, framework.Unknown, framework.OutcomeOf(err))
		require.Len(t, p.nodes(), 1)

		reach(p.server, "client")
		assert.Empty(t, p.nodes())
		require.NoError(t, session.Err())
		made, err := p.create(t.Context())
		require.NoError(t, err)
		p.only(t, made)
		assert.Equal(t, session.ID(), made.Session)
	})
}

// CURATOR-79, CURATOR-62, scenario 2.
func TestProtectedCreateCancelledInFlightLeavesNothing(t *testing.T) {
	for name, aim := range map[string]func(*zktest.Rule) *zktest.Rule{
		"before it is applied": (*zktest.Rule).Before,
		"after it was applied": (*zktest.Rule).After,
	} {
		t.Run(name, func(t *testing.T) {
			protect(t, func(t *testing.T, p place) {
				aim(p.server.On(zktest.OpCreate, "")).Delay(time.Second)
				_, err := p.create(within(t, 500*time.Millisecond))
				require.ErrorIs(t, err, errStopped)
				require.ErrorIs(t, err, framework.ErrUnknownOutcome)
				time.Sleep(time.Second)
				assert.Equal(t, 1, p.server.Count(zktest.OpCreate), "it was carried out, and undone")
				assert.Empty(t, p.nodes())
			})
		})
	}
}

func TestProtectedCreateCancelledInFlightAndThenCutLeavesNothing(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		p.server.On(zktest.OpCreate, "").After().Delay(time.Second)
		_, err := p.create(within(t, 500*time.Millisecond))
		require.ErrorIs(t, err, errStopped)
		suspend(p.server, "client")
		require.Len(t, p.nodes(), 1)
		reach(p.server, "client")
		assert.Empty(t, p.nodes())
		assert.NoError(t, p.Session().Err())
	})
}

// R-2, scenario 9: the lookup ends in another error than a broken connection.
func TestProtectedCreateWhoseLookupIsRefusedLeavesNothing(t *testing.T) {
	for name, code := range map[string]zktest.Code{
		"request timeout": zktest.OperationTimeout, "session moved": zktest.SessionMoved, "throttled": zktest.ThrottledOp,
	} {
		t.Run(name, func(t *testing.T) {
			protect(t, func(t *testing.T, p place) {
				p.server.On(zktest.OpCreate, "").After().Cut()
				refusals := p.server.On(zktest.OpSync, p.FullPath("/queue")).Always().Fail(code)
				_, err := p.create(t.Context())
				require.ErrorIs(t, err, framework.ErrUnknownOutcome)
				require.Equal(t, framework.Unknown, framework.OutcomeOf(err))
				time.Sleep(time.Second)
				require.Len(t, p.nodes(), 1)
				refusals.Remove()
				time.Sleep(3 * time.Second)
				assert.Empty(t, p.nodes())
				assert.NoError(t, p.Session().Err())
			}, func(cfg *framework.Config) { cfg.Retry = retry.None() })
		})
	}
}

// CURATOR-498, scenario 4: it all happens in one session.
func TestProtectedCreateDoesNotGoOnInTheNextSession(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		old := p.Session()
		p.server.RefuseConnections("client", true)
		p.server.On(zktest.OpCreate, "").After().Cut()
		call := start(func() (framework.Created, error) { return p.create(t.Context()) })
		synctest.Wait()
		p.server.ExpireSession(old.ID())
		reach(p.server, "client")
		r := <-call
		require.ErrorIs(t, r.err, framework.ErrSessionLost)
		require.ErrorIs(t, r.err, framework.ErrUnknownOutcome)
		assert.Empty(t, p.nodes())
		assert.Equal(t, 1, p.server.Count(zktest.OpCreate))
	})
}

// A persistent node outlives the session in which it was made, so removing it must,
// too.
func TestProtectedPersistentCreateLeavesNothingWhenItsSessionEnds(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		p.server.RefuseConnections("client", true)
		p.server.On(zktest.OpCreate, "").After().Cut()
		call := start(func() (framework.Created, error) {
			return p.CreateProtected(t.Context(), "/queue/n-", nil, framework.PersistentSequential)
		})
		synctest.Wait()
		p.server.ExpireSession(p.Session().ID())
		require.Len(t, p.nodes(), 1)
		reach(p.server, "client")
		require.ErrorIs(t, (<-call).err, framework.ErrSessionLost)
		time.Sleep(time.Second)
		assert.Empty(t, p.nodes())
	})
}
