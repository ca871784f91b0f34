package kit_test

import (
	"log/slog"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func connect(t *testing.T, s *zktest.Server, name string) *framework.Client {
	t.Helper()
	c, err := framework.Connect(t.Context(), framework.Config{
		Servers: []string{s.Addr()}, Dial: s.Dial(name), Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// The framework implements the kit without being able to name it: nothing but this test
// compares the two. Each view of a client has a kit of its own, of the same client.
func TestEveryViewHasAKit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		c, other := connect(t, s, "a"), connect(t, s, "b")
		named, err := c.Namespace("ns")
		require.NoError(t, err)
		for name, view := range map[string]*framework.Client{
			"of Connect": c, "of a namespace": named, "pinned": c.In(c.Session()), "once": kit.Of(c).Once(),
			"all of them": kit.Of(named.In(c.Session())).Once(),
		} {
			k := kit.Of(view)
			assert.True(t, k.SameClient(c), name)
			assert.True(t, kit.Of(c).SameClient(view), name)
			assert.False(t, k.SameClient(other), name)
			again := k.Once()
			assert.Equal(t, view.FullPath("/x"), again.FullPath("/x"), name)
			assert.Same(t, view.Session(), again.Session(), name)
			_, err := again.Multi(t.Context(), kit.Of(c).CheckExists("/", nil))
			assert.NoError(t, err, name)
		}
	})
}

// The kit of a pinned view stays in its session, and that of another goes on in the
// next.
func TestKitKeepsTheSessionOfAView(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		c := connect(t, s, "a")
		pinned := c.In(c.Session())
		s.ExpireSession(c.Session().ID())
		<-pinned.Session().Done()
		_, err := kit.Of(pinned).CreateProtectedAll(t.Context(), "/n-", nil, 1, nil)
		require.ErrorIs(t, err, framework.ErrSessionLost)
		_, _, err = kit.Of(pinned).Once().Get(t.Context(), "/")
		require.ErrorIs(t, err, framework.ErrSessionLost)
		made, err := kit.Of(c).CreateProtectedAll(t.Context(), "/n-", nil, 1, nil)
		require.NoError(t, err)
		require.Equal(t, c.Session().ID(), made[0].Session)
		require.NotEqual(t, pinned.Session().ID(), made[0].Session)
	})
}

func TestAKitCostsNoAllocation(t *testing.T) {
	c := connect(t, zktest.NewServer(t), "a")
	other := c.In(c.Session())
	var same bool
	assert.Zero(t, testing.AllocsPerRun(100, func() { same = kit.Of(c).SameClient(other) }))
	assert.True(t, same)
}

// All that recipes can do is in the interface: a method of the framework's side that is
// in neither the interface nor the client's public API is of no use.
func TestTheKitHasAllThatTheFrameworkOffersRecipes(t *testing.T) {
	t.Parallel()
	public, offered := reflect.TypeFor[*framework.Client](), reflect.TypeFor[kit.Kit]()
	implemented := reflect.TypeOf(kit.Of(connect(t, zktest.NewServer(t), "a")))
	for i := range implemented.NumMethod() {
		m := implemented.Method(i)
		_, isPublic := public.MethodByName(m.Name)
		_, isOffered := offered.MethodByName(m.Name)
		assert.NotEqual(t, isPublic, isOffered, "%s: one of both", m.Name)
	}
}

// A value is made once in a session, whichever view asks for it, and not found in the
// next session.
func TestASessionKeepsAValueOfEachKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		c, other := connect(t, s, "a"), connect(t, s, "b")
		type first struct{}
		type second struct{}
		made := 0
		value := func() any { made++; return &made }
		number := func() any { made++; return made }
		session := c.Session()
		for range 3 {
			assert.Same(t, &made, kit.Of(c).Kept(session, first{}, value))
			assert.Equal(t, 2, kit.Of(c.In(session)).Kept(session, second{}, number))
		}
		assert.Equal(t, 3, kit.Of(other).Kept(other.Session(), second{}, number))
		s.ExpireSession(session.ID())
		<-session.Done()
		next, err := c.AwaitSession(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 4, kit.Of(c).Kept(next, second{}, number))
		assert.Equal(t, 2, kit.Of(c).Kept(session, second{}, number))
	})
}
