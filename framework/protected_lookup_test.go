package framework

import (
	"crypto/rand"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func newTestID(t *testing.T) protection.ID {
	t.Helper()
	id, err := protection.New(rand.Reader)
	require.NoError(t, err)
	return id
}

// lookup is a client in a bubble with a node /q, for tests of what a lookup makes of
// the children it finds.
func lookup(t *testing.T, test func(t *testing.T, s *zktest.Server, mine, other *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		client := func(name string) *Client {
			c, err := Connect(t.Context(), Config{
				Servers: []string{s.Addr()}, Dial: s.Dial(name), Logger: slog.New(slog.DiscardHandler),
			})
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			return c.In(c.Session())
		}
		mine, other := client("mine"), client("other")
		_, err := mine.Create(t.Context(), "/q", nil, Persistent)
		require.NoError(t, err)
		test(t, s, mine, other)
	})
}

// CURATOR-498: an id says which create made a node, the owner which session.
func TestLookupDoesNotAdoptTheNodeOfAnotherSession(t *testing.T) {
	t.Parallel()
	lookup(t, func(t *testing.T, _ *zktest.Server, mine, other *Client) {
		id := newTestID(t)
		_, err := other.Create(t.Context(), "/q/_c_"+string(id[:])+"-n-0000000000", nil, Ephemeral)
		require.NoError(t, err)
		_, err = mine.Create(t.Context(), "/q/_c_"+string(id[:])+"-n-0000000001", nil, Persistent)
		require.NoError(t, err)
		found, err := mine.listProtected(t.Context(), "/q", id, EphemeralSequential)
		require.NoError(t, err)
		assert.Empty(t, found)
	})
}

func TestLookupKeepsTheFirstOfSeveralAndSweepsTheOthers(t *testing.T) {
	t.Parallel()
	lookup(t, func(t *testing.T, s *zktest.Server, mine, _ *Client) {
		id := newTestID(t)
		var made []Created
		for _, number := range []string{"0000000007", "0000000003", "0000000005"} { // names do not tell the order
			created, err := mine.Create(t.Context(), "/q/_c_"+string(id[:])+"-n-"+number, nil, Ephemeral)
			require.NoError(t, err)
			made = append(made, created)
		}
		found, err := mine.listProtected(t.Context(), "/q", id, EphemeralSequential)
		require.NoError(t, err)
		require.Equal(t, made, found)
		p := protected{client: mine, id: id, parent: "/q", mode: EphemeralSequential}
		assert.Equal(t, made[0], p.first(found))
		time.Sleep(time.Second)
		assert.Equal(t, []string{"_c_" + string(id[:]) + "-n-0000000007"}, s.Children("/q"))
	})
}

func TestLookupIgnoresHostileSiblings(t *testing.T) {
	t.Parallel()
	lookup(t, func(t *testing.T, s *zktest.Server, mine, other *Client) {
		id := newTestID(t)
		for _, name := range []string{"_c_", "_c_x", "x", "_c_" + string(id[:]), "_c_-", "_c_0123456789012345678901234567890123456789"} {
			_, err := other.Create(t.Context(), "/q/"+name, nil, Persistent)
			require.NoError(t, err)
		}
		found, err := mine.listProtected(t.Context(), "/q", id, EphemeralSequential)
		require.NoError(t, err)
		assert.Empty(t, found)
		assert.Len(t, s.Children("/q"), 6)
	})
}

func TestLookupUnderAParentThatIsGoneFindsNothing(t *testing.T) {
	t.Parallel()
	lookup(t, func(t *testing.T, _ *zktest.Server, mine, _ *Client) {
		found, err := mine.listProtected(t.Context(), "/none", newTestID(t), EphemeralSequential)
		require.NoError(t, err)
		assert.Empty(t, found)
	})
}

// The connection breaks under a create, and the session is over before the search for
// the node: the caller must learn that, to try in the next session.
func TestSessionEndsBetweenTheAttemptAndTheLookup(t *testing.T) {
	t.Parallel()
	lookup(t, func(t *testing.T, s *zktest.Server, mine, _ *Client) {
		p, err := mine.protect(t.Context(), "/q/n-", EphemeralSequential)
		require.NoError(t, err)
		lost := &OpError{Op: "create", Path: "/q/n-", Outcome: Unknown, Err: zk.ErrConnectionClosed}
		s.ExpireSession(p.session.ID())
		<-p.session.Done()
		made, err := p.untilKnown(t.Context(), lost, nil)
		assert.Empty(t, made)
		require.ErrorIs(t, err, ErrSessionLost)
		require.ErrorIs(t, err, zk.ErrConnectionClosed)
		assert.Equal(t, Unknown, OutcomeOf(err))
	})
}
