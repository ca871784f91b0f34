package mutex_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestCreateAppliedReplyLostRetriesExhausted_Curator45(t *testing.T) {
	conformance.InWorld(t, func(_ *testing.T, w *conformance.World) { replyLostForLong(w, "") })
}

func TestCreateAppliedReplyLostUnderNamespace_Curator264(t *testing.T) {
	conformance.InWorld(t, func(_ *testing.T, w *conformance.World) { replyLostForLong(w, "billing/eu") })
}

// replyLostForLong loses the reply to a create and the server for longer than the
// caller waits.
func replyLostForLong(w *conformance.World, namespace string) {
	config := func(cfg *framework.Config) {
		cfg.Namespace = namespace
		cfg.Retry = retry.None()
	}
	a, b := w.Client("a", config), w.Client("b", config)
	warm(w, b)
	session := a.Session().ID()

	lost := w.Server.On(zktest.OpCreate, b.FullPath(path)).Client("a").After().Cut()
	w.Server.RefuseConnections("a", true)
	attempt := w.Start(newMutex(w.T, a), time.Second)
	err := attempt.Failed()
	<-lost.Fired()
	require.ErrorIs(w.T, err, lease.ErrTimeout)
	require.Len(w.T, w.Server.Children(b.FullPath(path)), 1, "the create took effect")
	require.InDelta(w.T, time.Second, attempt.Took, float64(100*time.Millisecond))

	w.After(time.Second)
	w.Server.RefuseConnections("a", false)
	w.After(time.Second)
	require.Empty(w.T, w.Server.Children(b.FullPath(path)), "the node is cleaned up once the server is back")
	require.Equal(w.T, session, a.Session().ID(), "in the same session")
	require.NoError(w.T, w.Acquire(newMutex(w.T, b)).Release())
}

func TestCancelledDuringCreate_Curator79(t *testing.T) {
	cases := map[string]func(r *zktest.Rule) *zktest.Rule{
		"reply late":        func(r *zktest.Rule) *zktest.Rule { return r.After().Delay(time.Second) },
		"request late":      func(r *zktest.Rule) *zktest.Rule { return r.Before().Delay(time.Second) },
		"reply dropped":     func(r *zktest.Rule) *zktest.Rule { return r.After().DropReply() },
		"connection muted":  func(r *zktest.Rule) *zktest.Rule { return r.After().Mute() },
		"request forgotten": func(r *zktest.Rule) *zktest.Rule { return r.Before().Mute() },
	}
	for name, fault := range cases {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				warm(w, b)
				fault(w.Server.On(zktest.OpCreate, path).Client("a"))
				attempt := w.Start(newMutex(t, a), lease.Forever)
				w.After(100 * time.Millisecond)
				require.True(t, attempt.Waiting())

				changed := errors.New("changed my mind")
				attempt.Cancel(changed)
				w.After(10 * time.Millisecond)
				require.False(t, attempt.Waiting(), "a cancelled caller does not wait for the server")
				require.ErrorIs(t, attempt.Failed(), changed)

				w.After(conformance.SessionTimeout)
				require.Empty(t, children(w), "no node is left")
				require.NoError(t, w.Acquire(newMutex(t, b)).Release())
			})
		})
	}
}

// impostor deletes a node and makes it anew, under the same name, for another session.
func impostor(w *conformance.World, other *framework.Client, node string) {
	w.T.Helper()
	_, err := other.Create(w.T.Context(), node, nil, framework.Ephemeral)
	require.NoError(w.T, err)
}

func TestLookupFindsNodeOfAnotherSession_Curator498(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		warm(w, b)
		lost := w.Server.On(zktest.OpCreate, path).Client("a").After().Cut()
		w.Server.RefuseConnections("a", true)
		attempt := w.Start(newMutex(t, a), lease.Forever)
		<-lost.Fired()
		left := children(w)
		require.Len(t, left, 1)
		old := a.Session().ID()
		w.Expire(a)
		impostor(w, b, path+"/"+left[0]) // a node with the right id that is not ours

		w.Server.RefuseConnections("a", false)
		w.After(time.Second)
		require.True(t, attempt.Waiting(), "the node of another session is not adopted")
		require.Len(t, children(w), 2, "a fresh one waits behind it")
		w.Remove(b, path+"/"+left[0])
		got := attempt.Granted()
		require.NotEqual(t, old, ownerOf(w, got.Path()))
		require.Equal(t, a.Session().ID(), ownerOf(w, got.Path()))
		require.NoError(t, got.Release())
	})
}

// The same within one session. Only forgery leads there, since an id is used in
// one session only; what counts is that the lease stands on a node of our own.
func TestLookupChecksOwner_Kazoo15(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		warm(w, b)
		lost := w.Server.On(zktest.OpCreate, path).Client("a").After().Cut()
		w.Server.RefuseConnections("a", true)
		attempt := w.Start(newMutex(t, a), lease.Forever)
		<-lost.Fired()
		left := children(w)
		require.Len(t, left, 1)
		w.Remove(b, path+"/"+left[0])
		impostor(w, b, path+"/"+left[0])

		w.Server.RefuseConnections("a", false)
		got := attempt.Granted()
		require.NotEqual(t, path+"/"+left[0], got.Path())
		require.Equal(t, a.Session().ID(), ownerOf(w, got.Path()))
	})
}

func TestPathAndTokenOfLookupAreThoseOfCreate_CuratorC805(t *testing.T) {
	for name, namespace := range map[string]string{"plain": "", "namespace": "billing"} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a := w.Client("a", func(cfg *framework.Config) { cfg.Namespace = namespace })
				warm(w, a)
				w.Server.On(zktest.OpCreate, a.FullPath(path)).After().Cut()
				got := w.Acquire(newMutex(t, a))
				nodes := w.Server.Children(a.FullPath(path))
				require.Len(t, nodes, 1)
				require.Equal(t, path+"/"+nodes[0], got.Path())
				info, ok := w.Server.Node(a.FullPath(got.Path()))
				require.True(t, ok)
				require.EqualValues(t, info.Czxid, got.Token())
				require.NoError(t, got.Release())
			})
		})
	}
}

func TestNamesDoNotGrow_Curator190(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, b))
		attempt := w.Start(newMutex(t, a), lease.Forever)
		length := len(held.Path())
		for range 5 {
			w.Expire(a)
			w.After(time.Second)
			require.True(t, attempt.Waiting())
			nodes := children(w)
			require.Len(t, nodes, 2, "one node each")
			for _, n := range nodes {
				require.Len(t, path+"/"+n, length)
			}
		}
		require.NoError(t, held.Release())
		require.NoError(t, attempt.Granted().Release())
	})
}

func TestEveryNameHasProtectionID_Curator489(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(newMutex(t, a))
		w.Start(newMutex(t, a), lease.Forever)
		w.Start(newMutex(t, a, mutex.WithHolder("x"), mutex.WithMaxHold(time.Hour)), lease.Forever)
		nodes := children(w)
		require.Len(t, nodes, 3)
		seen := map[framework.ProtectionID]bool{}
		for _, n := range nodes {
			id, ok := framework.ProtectionOf(n)
			require.True(t, ok, n)
			require.False(t, seen[id], "an id is used once")
			seen[id] = true
			require.Regexp(t, `^_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-lock-\d{10}$`, n)
		}
		require.NoError(t, held.Release())
	})
}

func TestLookupOnLaggingServer_CuratorR1(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		b := w.Client("b")
		warm(w, b)
		var dials atomic.Int32
		a := w.Client("a", func(cfg *framework.Config) {
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				name := "a"
				if dials.Add(1) > 1 {
					name = "a, elsewhere"
				}
				return w.Server.Dial(name)(ctx, network, addr)
			}
		})
		held := w.Acquire(newMutex(t, b))
		w.Server.Lag("a, elsewhere", true) // has not seen what follows
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Op == zktest.OpSync && c.Path == "/" { // nor does it by the client's own syncs
				return zktest.Fail(zktest.OperationTimeout)
			}
			return zktest.Pass
		})
		w.Server.ResetCounts()
		w.Server.On(zktest.OpCreate, path).Client("a").After().Cut()
		attempt := w.Start(newMutex(t, a), lease.Forever)
		w.After(time.Second)
		require.EqualValues(t, 2, dials.Load())
		require.Equal(t, 1, w.Server.Count(zktest.OpCreate), "it was found, not made again")
		require.Len(t, children(w), 2, "one node each")
		require.NoError(t, held.Release())
		w.Server.Lag("a, elsewhere", false)
		require.NoError(t, attempt.Granted().Release())
		w.Settle()
		require.Empty(t, children(w))
	})
}

func TestLookupFailsWithOtherErrors_CuratorR2(t *testing.T) {
	for name, code := range map[string]zktest.Code{"timeout": zktest.OperationTimeout, "moved": zktest.SessionMoved} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a", func(cfg *framework.Config) { cfg.Retry = retry.None() }), w.Client("b")
				warm(w, b)
				w.Server.On(zktest.OpCreate, path).Client("a").After().Cut()
				sync := w.Server.On(zktest.OpSync, "").Client("a").Always().Fail(code)
				err := w.Start(newMutex(t, a), 3*time.Second).Failed()
				require.ErrorIs(t, err, framework.ErrUnknownOutcome, "it is told that the create's end is not known")
				require.Len(t, children(w), 1)
				sync.Remove()
				w.After(3 * time.Second)
				require.Empty(t, children(w), "cleaned up as soon as the server can be asked")
				require.NoError(t, w.Acquire(newMutex(t, b)).Release())
			})
		})
	}
}

// A create that was given up for lost may still be carried out: the old
// connection's bytes arrive late.
func TestCreateArrivesAfterItWasGivenUp(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		warm(w, b)
		w.Server.Stall("a", true)
		attempt := w.Start(newMutex(t, a), time.Second)
		require.ErrorIs(t, attempt.Failed(), lease.ErrTimeout)
		require.Empty(t, children(w))
		w.Server.Stall("a", false)
		w.After(conformance.SessionTimeout)
		require.Empty(t, children(w), "what arrived late was removed")
		require.NoError(t, w.Acquire(newMutex(t, b)).Release())
	})
}

// Nothing of the caller's names ends up in a node's name.
func TestNodeNamesAreCurators(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newMutex(t, w.Client("a"), mutex.WithHolder("/strange name/")))
		require.Equal(t, 1, strings.Count(held.Path()[len(path):], "/"))
		require.True(t, strings.HasSuffix(held.Path(), "-lock-0000000000"))
	})
}
