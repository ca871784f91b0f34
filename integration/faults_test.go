package integration

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/proxy"
)

// The server is killed and restarted while several processes contend: none hangs, no
// leases overlap, and no node stays.
func TestServerKilledAndRestartedUnderContention(t *testing.T) {
	servers, server := single(t)
	const path = "/locks/restarted"
	observer := connect(t, server)
	require.NoError(t, observer.CreateParents(within(t, limit), path+"/x"))
	wait := startContenders(t, 2, plan{Servers: []string{server}, Path: path, Workers: 4, Grants: 300, Until: true, Tolerant: true})
	for range 3 {
		awaitGrants(t, observer, path, 50)
		require.NoError(t, servers.Node(0).Kill())
		require.NoError(t, servers.Node(0).Start(within(t, limit)))
		require.NoError(t, servers.AwaitReady(within(t, limit)))
	}
	grants := wait()
	assert.GreaterOrEqual(t, len(grants), 2*4*300)
	requireExclusive(t, grants)
	requireEmpty(t, server, path, limit)
}

// awaitGrants waits until that many more znodes have been made under the path.
func awaitGrants(t *testing.T, observer *framework.Client, path string, more int32) {
	t.Helper()
	ctx := within(t, limit)
	var first int32 = -1
	for {
		_, stat, w, err := observer.ChildrenWatch(ctx, path)
		if errors.Is(err, framework.ErrNoNode) { // removed while the queue was empty: the next contender makes it again
			_, _, w, err = observer.ExistsWatch(ctx, path)
			first, stat.Cversion = -1, 0
		}
		require.NoError(t, err)
		if first < 0 {
			first = stat.Cversion
		}
		if stat.Cversion-first >= 2*more {
			return
		}
		select {
		case <-w.Events():
		case <-ctx.Done():
			t.Fatalf("no %d grants under %s in time", more, path)
		}
	}
}

// A server is paused for longer than the session timeout: the holder is notified at its
// trust deadline, while the server is still paused, and the waiter gets the mutex
// afterwards.
func TestServerPausedBeyondTheSessionTimeout(t *testing.T) {
	servers, server := single(t)
	const path = "/locks/paused"
	holder, waiter := connect(t, server), connect(t, server)
	held, err := newMutex(t, holder, path).Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	granted := make(chan *lease.Lease, 1)
	var group sync.WaitGroup
	group.Go(func() {
		next, err := newMutex(t, waiter, path).Acquire(within(t, limit), lease.Forever)
		assert.NoError(t, err)
		granted <- next
	})
	require.NoError(t, servers.Node(0).Pause())
	deadline := held.TrustedUntil()
	select {
	case <-held.Context().Done():
	case <-time.After(limit):
		t.Fatal("the holder was not notified")
	}
	late := time.Since(deadline)
	assert.Greater(t, late, -time.Second)
	assert.Less(t, late, sessionTimeout)
	require.ErrorIs(t, context.Cause(held.Context()), lease.ErrLost)
	require.ErrorIs(t, held.Err(), lease.ErrLost)
	require.NoError(t, servers.Node(0).Resume())
	next := <-granted
	group.Wait()
	require.NotNil(t, next)
	assert.Greater(t, next.Token(), held.Token())
	require.ErrorIs(t, held.Release(), lease.ErrLost)
	require.NoError(t, next.Release())
	requireEmpty(t, server, path, limit)
}

// The connection is cut right before, or right after, the create took effect: the
// acquire ends in one lease on one znode all the same.
func TestConnectionCutAtTheCreate(t *testing.T) {
	_, server := single(t)
	for name, cut := range map[string]func(*proxy.Proxy, int32, string, ...proxy.HookOption) <-chan struct{}{
		"before": (*proxy.Proxy).CutBefore,
		"after":  (*proxy.Proxy).CutAfter,
	} {
		t.Run(name, func(t *testing.T) {
			path := "/locks/cut-" + name
			between := proxy.New(t, server)
			client := connect(t, between.Addr())
			require.NoError(t, client.CreateParents(within(t, limit), path+"/x"))
			fired := cut(between, proxy.OpCreate, path+"/_c_")
			m := newMutex(t, client, path)
			held, err := m.Acquire(within(t, limit), lease.Forever)
			require.NoError(t, err)
			<-fired
			children, _, err := connect(t, server).Children(within(t, limit), path)
			require.NoError(t, err)
			require.Len(t, children, 1)
			require.NoError(t, held.Release())
			requireEmpty(t, server, path, soon)
		})
	}
}

// The same, but the server is unreachable for longer than the caller waits: Acquire
// returns an error in time, and leaves nothing when the server is back, in the same
// session.
func TestConnectionCutAtTheCreateAndRefused(t *testing.T) {
	const session = time.Minute // the machine may be busy
	server := ensemble.New(t, ensemble.Options{NoSync: true, Config: map[string]string{"maxSessionTimeout": "60000"}}).Servers()[0]
	for name, cut := range map[string]func(*proxy.Proxy, int32, string, ...proxy.HookOption) <-chan struct{}{
		"before": (*proxy.Proxy).CutBefore,
		"after":  (*proxy.Proxy).CutAfter,
	} {
		t.Run(name, func(t *testing.T) {
			path := "/locks/refused-" + name
			between := proxy.New(t, server)
			client := connectWith(t, framework.Config{Servers: []string{between.Addr()}, SessionTimeout: session})
			first := client.Session().ID()
			require.NoError(t, client.CreateParents(within(t, limit), path+"/x"))
			fired := cut(between, proxy.OpCreate, path+"/_c_", proxy.ThenRefuse())
			start := time.Now()
			_, err := newMutex(t, client, path).Acquire(context.Background(), 2*time.Second)
			took := time.Since(start)
			<-fired
			require.ErrorIs(t, err, lease.ErrTimeout)
			assert.Less(t, took, session/2)
			between.Refuse(false)
			requireEmpty(t, server, path, soon)
			s, err := client.AwaitSession(within(t, limit))
			require.NoError(t, err)
			require.Equal(t, first, s.ID(), "the session must have survived, or this shows nothing")
		})
	}
}

// The answer to a release is dropped: the mutex is free, and the same client can
// acquire it again.
func TestConnectionCutAtTheRelease(t *testing.T) {
	_, server := single(t)
	for name, cut := range map[string]func(*proxy.Proxy, int32, string, ...proxy.HookOption) <-chan struct{}{
		"before": (*proxy.Proxy).CutBefore,
		"after":  (*proxy.Proxy).CutAfter,
	} {
		t.Run(name, func(t *testing.T) {
			path := "/locks/release-" + name
			between := proxy.New(t, server)
			m := newMutex(t, connect(t, between.Addr()), path)
			held, err := m.Acquire(within(t, limit), lease.Forever)
			require.NoError(t, err)
			fired := cut(between, proxy.OpDelete, path+"/_c_")
			require.NoError(t, held.Release())
			<-fired
			again, err := m.Acquire(within(t, limit), lease.Forever)
			require.NoError(t, err)
			require.NoError(t, again.Release())
			requireEmpty(t, server, path, soon)
		})
	}
}

// The leader of three servers is killed: sessions and leases survive, since the others
// take over within the trust window.
func TestLeaderKilledSessionAndLeaseSurvive(t *testing.T) {
	servers := ensemble.New(t, ensemble.Options{
		Nodes: 3, NoSync: true, Config: map[string]string{"maxSessionTimeout": "30000"}, // a busy machine elects slowly
	})
	client := connectWith(t, framework.Config{Servers: servers.Servers(), SessionTimeout: 30 * time.Second})
	const path = "/locks/ensemble"
	m := newMutex(t, client, path)
	held, err := m.Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	leader, err := servers.Leader(within(t, limit))
	require.NoError(t, err)
	require.NoError(t, servers.Node(leader).Kill())
	require.NoError(t, held.Confirm(within(t, limit)))
	require.NoError(t, held.Err())
	require.NoError(t, held.Release())
	requireEmpty(t, servers.Servers()[(leader+1)%3], path, soon)
}

// Three servers are paused and killed, one after the other, while two processes
// contend.
func TestEnsembleFaultsUnderContention(t *testing.T) {
	servers := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true})
	const path = "/locks/storm"
	observer := connect(t, servers.Servers()...)
	require.NoError(t, observer.CreateParents(within(t, limit), path+"/x"))
	wait := startContenders(t, 2, plan{Servers: servers.Servers(), Path: path, Workers: 4, Grants: 150, Until: true, Tolerant: true})
	for i := range 3 {
		awaitGrants(t, observer, path, 20)
		node := servers.Node(i)
		if i%2 == 0 {
			require.NoError(t, node.Kill())
			awaitGrants(t, observer, path, 20)
			require.NoError(t, node.Start(within(t, limit)))
		} else {
			require.NoError(t, node.Pause())
			awaitGrants(t, observer, path, 20)
			require.NoError(t, node.Resume())
		}
		require.NoError(t, servers.AwaitReady(within(t, limit)))
	}
	grants := wait()
	assert.GreaterOrEqual(t, len(grants), 2*4*150)
	requireExclusive(t, grants)
	requireEmpty(t, servers.Servers()[0], path, limit)
}

// No server at all: the call ends with its context (framework tests how closely, in
// virtual time), and the error says what was tried.
func TestNoServer(t *testing.T) {
	servers := ensemble.New(t, ensemble.Options{Publish: true, NoSync: true})
	server := servers.Servers()[0]
	require.NoError(t, servers.Node(0).Kill())
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	start := time.Now()
	_, err := framework.Connect(ctx, framework.Config{Servers: []string{server}})
	assert.Less(t, time.Since(start), 10*time.Second)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	var connect *framework.ConnectError
	require.ErrorAs(t, err, &connect)
	require.NotEmpty(t, connect.Attempts)
	assert.Equal(t, server, connect.Attempts[0].Addr)
	assert.ErrorContains(t, err, server)
	assert.ErrorContains(t, err, "refused")
}
