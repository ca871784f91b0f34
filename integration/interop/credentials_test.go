package interop

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// ours connects with the credentials of Java with digest=1.
func ours(t *testing.T, addr string, acl func(string) []framework.ACL) *framework.Client {
	t.Helper()
	return connect(t, addr, func(cfg *framework.Config) {
		cfg.Auth, cfg.ACL = []framework.Credential{framework.DigestAuth("us", "hunter2")}, acl
	})
}

// Go has credentials, Java has the same or none. They share one queue; but only clients
// with the credentials may request a revocation.
func TestJavaBesideCredentials(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		for digest, revoking := range []string{"not permitted", "asked"} {
			option := fmt.Sprintf("digest=%d", digest)
			client := ours(t, addr, nil)
			m := newMutex(t, client, sharedPath)
			first, err := m.Acquire(context.Background(), 0)
			require.NoError(t, err)
			p := startCurator(t, "hold", addr, sharedPath, "wait=120000", option)
			awaitChildren(t, client, sharedPath, 2)
			granted := acquireLater(t, m)
			awaitChildren(t, client, sharedPath, 3)

			asked := startCurator(t, "revoke", addr, first.Path(), option)
			require.Equal(t, []string{revoking}, asked.requireRest(t))
			if digest == 1 {
				<-first.RevocationRequested()
			} else {
				require.ErrorIs(t, lease.RequestRevocation(context.Background(), connect(t, addr), first.Path()), framework.ErrNoAuth)
				select {
				case <-first.RevocationRequested():
					t.Error("a client without credentials has requested a revocation")
				case <-time.After(100 * time.Millisecond):
				}
			}
			require.NoError(t, first.Confirm(context.Background()))
			_, err = client.Multi(context.Background(), first.Check())
			require.NoError(t, err)

			require.NoError(t, first.Release())
			require.Contains(t, p.line(t), "held ")
			javaReleases(t, p)
			second := <-granted
			require.NoError(t, second.Release())
		}
		requireNothingLeft(t, addr, sharedPath)
	})
}

// On a protected path, Java contends with the credentials, and cannot without them.
func TestJavaWhereThePathBelongsToCredentials(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		client := ours(t, addr, framework.OwnedBelow(sharedPath))
		m := newMutex(t, client, sharedPath)
		held, err := m.Acquire(context.Background(), 0)
		require.NoError(t, err)
		plain := connect(t, addr)
		require.ErrorIs(t, plain.Delete(context.Background(), held.Path(), framework.AnyVersion), framework.ErrNoAuth)
		refused := startCurator(t, "hold", addr, sharedPath, "wait=120000", "digest=0")
		require.Equal(t, []string{"not permitted"}, refused.requireRest(t))
		p := startCurator(t, "hold", addr, sharedPath, "wait=120000", "digest=1")
		awaitChildren(t, client, sharedPath, 2)
		require.NoError(t, held.Release())
		require.Contains(t, p.line(t), "held ")
		javaReleases(t, p)
		requireNothingLeft(t, addr, sharedPath)
	})
}

// A deletion is noticed on a real server as well, whether or not it sends an event.
func TestDeletionsWithoutAnEvent(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		const within = sessionTimeout*5/4 + 30*time.Second // the machine may be busy
		m := newMutex(t, connect(t, addr), sharedPath)
		held, err := m.Acquire(context.Background(), 0)
		require.NoError(t, err)
		watched := make(chan struct{})
		var first sync.Once
		client, operator := connect(t, addr, func(cfg *framework.Config) {
			cfg.Observers = []framework.Observer{{RequestEnded: func(_ context.Context, r framework.Request) {
				if r.Op == "get" && r.Path == held.Path() && r.Err == nil {
					first.Do(func() { close(watched) })
				}
			}}}
		}), connect(t, addr)
		granted := acquireLater(t, newMutex(t, client, sharedPath))
		select { // one that may not read the node ahead does not wait
		case <-watched:
		case <-time.After(limit):
			t.Fatal("the waiter did not watch the node ahead")
		}
		_, err = operator.SetACL(context.Background(), held.Path(), framework.WorldACL(framework.PermAll&^framework.PermRead), framework.AnyVersion)
		require.NoError(t, err)
		require.NoError(t, operator.Delete(context.Background(), held.Path(), framework.AnyVersion))
		select {
		case next := <-granted:
			require.NoError(t, next.Release())
		case <-time.After(within):
			t.Fatal("the waiter did not notice the deletion")
		}
		select { // the waiter may notice first
		case <-held.Done():
		case <-time.After(within):
			t.Fatal("the holder did not notice the deletion")
		}
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}
