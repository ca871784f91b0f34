package framework_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// requireResent requires that the deletes are carried out as expected, before anything
// else, and that all is known then.
func (r *releaser) requireResent(t *testing.T, want string) {
	t.Helper()
	require.NoError(t, r.AwaitReleased(within(t, timeout/2), "/queue"))
	require.NoError(t, r.session.Err())
	time.Sleep(timeout)
	assert.True(t, strings.HasPrefix(r.applied(), want), r.applied())
	assert.Empty(t, r.nodes())
}

// Deletes that were not carried out are the first requests on the next connection, in
// the order of the releases: also before a Multi that has waited for it.
func TestReleasesAreSentAgainBeforeAnythingElse(t *testing.T) {
	releasing(t, "a b c", func(t *testing.T, r *releaser) {
		r.server.Partition("client", true)
		calls := r.release(t, "b a c")
		require.Equal(t, "over b, over a, over c", r.heard())
		suspended := r.session.Suspended()
		r.server.DropConnections("client")
		r.server.Partition("client", false) // and so closes the connection
		r.server.RefuseConnections("client", true)
		<-suspended
		require.False(t, r.SendChildren("/queue", nil))
		multi := startErr(func() error {
			_, err := r.Multi(t.Context(), framework.SetOp("/queue", nil, framework.AnyVersion))
			return err
		})
		for _, call := range calls {
			require.ErrorIs(t, (<-call).err, framework.ErrUnknownOutcome)
		}
		require.False(t, r.confirmed(t))
		r.server.RefuseConnections("client", false)
		require.NoError(t, (<-multi).err)
		r.requireResent(t, "delete b, delete a, delete c, ")
		require.Contains(t, r.applied(), "multi")
		require.Equal(t, "deleted b, deleted a, deleted c", r.told3())
	})
}

// told3 is the first three of what was heard: the background learns it as well.
func (r *releaser) told3() string {
	all := strings.SplitN(r.heard(), ", ", 4)
	return strings.Join(all[:min(3, len(all))], ", ")
}

// However often the connection breaks, with the delete carried out or not.
func TestReleaseWhoseConnectionBreaks(t *testing.T) {
	// The last delete is that of the background.
	for name, tc := range map[string]struct {
		before int // how many connections break before the delete is carried out
		fault  func(r *zktest.Rule)
		want   string
	}{
		"not carried out":         {1, nil, "delete a, delete a: no node"},
		"carried out":             {0, func(r *zktest.Rule) { r.After().Cut() }, "delete a, delete a: no node, delete a: no node"},
		"twice, not carried out":  {2, nil, "delete a, delete a: no node"},
		"twice, then carried out": {1, func(r *zktest.Rule) { r.After().Cut() }, "delete a, delete a: no node, delete a: no node"},
		"then moved":              {1, func(r *zktest.Rule) { r.Nth(2).Fail(zktest.SessionMoved) }, "delete a: session moved, delete a"},
	} {
		t.Run(name, func(t *testing.T) {
			releasing(t, "a", func(t *testing.T, r *releaser) {
				for i := range tc.before {
					r.server.On(zktest.OpDelete, "").Nth(i + 1).Cut()
				}
				if tc.fault != nil {
					tc.fault(r.server.On(zktest.OpDelete, ""))
				}
				require.ErrorIs(t, r.Release(t.Context(), "/queue/a"), framework.ErrUnknownOutcome)
				require.False(t, r.confirmed(t))
				r.requireResent(t, tc.want)
				require.Equal(t, tc.want, r.applied())
				require.True(t, strings.HasPrefix(r.heard(), "over a, deleted a"))
			})
		})
	}
}

// The server may refuse what is sent again.
func TestReleaseThatIsRefusedWhenItIsSentAgain(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		r.server.On(zktest.OpDelete, "").Cut()
		r.server.On(zktest.OpDelete, "").Nth(2).Always().Fail(zktest.NoAuth)
		require.ErrorIs(t, r.Release(t.Context(), "/queue/a"), framework.ErrUnknownOutcome)
		require.ErrorIs(t, r.AwaitReleased(within(t, timeout/2), "/queue"), framework.ErrNoAuth)
		require.Equal(t, "over a, refused a", r.heard())
		count := r.server.Count(zktest.OpDelete)
		r.server.DropConnections("client")
		synctest.Wait()
		require.NoError(t, r.Sync(t.Context(), "/"))
		require.Equal(t, count, r.server.Count(zktest.OpDelete), "it is not sent on one more connection")
	})
}

// After a refusal another client may delete the node.
func TestRefusedReleaseWhoseNodeIsDeleted(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		r.server.On(zktest.OpDelete, "").Fail(zktest.NoAuth)
		require.ErrorIs(t, r.Release(t.Context(), "/queue/a"), framework.ErrNoAuth)
		require.ErrorIs(t, r.AwaitReleased(t.Context(), "/queue"), framework.ErrNoAuth)
		_, _, _, err := r.GetWatch(t.Context(), "/queue/a")
		require.NoError(t, err)
		other := connectAs(t, r.server, "other")
		require.NoError(t, other.Delete(t.Context(), r.FullPath("/queue/a"), framework.AnyVersion))
		require.Contains(t, r.heard(), "refused a, deleted a")
		require.NoError(t, r.AwaitReleased(t.Context(), "/queue"))
	})
}

// An event says that the node is deleted. The next server may not know that: the delete
// goes first there, too.
func TestReleaseIsSentAgainAfterTheEvent(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		_, _, _, err := r.GetWatch(t.Context(), "/queue/a")
		require.NoError(t, err)
		r.server.On(zktest.OpDelete, "").After().DropReply()
		calls := r.release(t, "a")
		require.Equal(t, "over a, deleted a", r.heard())
		require.True(t, r.confirmed(t))
		r.server.DropConnections("client")
		require.ErrorIs(t, (<-calls[0]).err, framework.ErrUnknownOutcome)
		_, err = r.Set(t.Context(), "/queue", nil, framework.AnyVersion)
		require.NoError(t, err)
		r.requireResent(t, "delete a, delete a: no node, ")
		require.Equal(t, 3, r.server.Count(zktest.OpDelete), "the last one is that of the background")
	})
}

// A session whose end is the answer to what is sent again is over.
func TestReleaseSentAgainFindsTheSessionExpired(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		r.server.On(zktest.OpDelete, "").Cut()
		r.server.On(zktest.OpDelete, "").Nth(2).Fail(zktest.SessionExpired)
		require.ErrorIs(t, r.Release(t.Context(), "/queue/a"), framework.ErrUnknownOutcome)
		require.ErrorIs(t, r.AwaitReleased(t.Context(), "/queue"), framework.ErrSessionExpired)
	})
}

// A release that waits to be repeated finds its node deleted by what was sent on the
// new connection meanwhile. That is no deletion by another client.
func TestReleaseThatIsRepeatedAfterABreak(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		r.server.On(zktest.OpDelete, "").Fail(zktest.ThrottledOp)
		calls := r.release(t, "a")
		r.server.DropConnections("client")
		require.NoError(t, r.AwaitReleased(within(t, timeout/2), "/queue"))
		require.Empty(t, calls[0])
		require.NoError(t, (<-calls[0]).err)
		require.Equal(t, "delete a: throttled operation, delete a, delete a: no node", r.applied())
		require.Equal(t, "over a, deleted a, deleted a", r.heard(), "not over once more: it is settled")
	}, func(cfg *framework.Config) { cfg.Retry = retry.Constant(5 * time.Second) })
}

// What is sent again takes no slot of a request, and waits for none.
func TestReleasesSentAgainNeedNoSlot(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		r.server.On(zktest.OpDelete, "").Cut()
		require.ErrorIs(t, r.Release(t.Context(), "/queue/a"), framework.ErrUnknownOutcome)
		framework.TakeTurns(r.session)
		require.NoError(t, r.AwaitReleased(within(t, timeout/2), "/queue"))
	})
}

// While there is no connection, a release whose context ends is left to the background:
// nobody was told.
func TestReleaseWhileSuspended(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		suspend(r.server, "client")
		require.ErrorIs(t, r.Release(within(t, time.Second), "/queue/a"), errStopped)
		require.True(t, r.confirmed(t))
		reach(r.server, "client")
		require.Equal(t, "deleted a", r.heard())
		require.NoError(t, kit.Of(r.Client).AwaitReleased(within(t, timeout/2), "/queue"))
	})
}
