package lease_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// curatorsMark is what Curator's Revoker.REVOKE_MESSAGE is.
const curatorsMark = "__REVOKE__"

// requested reports whether a lease's revocation was requested.
func requested(held *lease.Lease) bool { return conformance.Closed(held.RevocationRequested()) }

// lasting acquires a lease and waits until it watches its node.
func lasting(w *conformance.World, a lease.Acquirer) *lease.Lease {
	held := w.Acquire(a)
	w.After(100 * time.Millisecond)
	return held
}

func data(t *testing.T, w *conformance.World, path string) string {
	t.Helper()
	node, ok := w.Server.Node(path)
	require.True(t, ok, path)
	return string(node.Data)
}

func TestRequestRevocationReachesAllLeasesOfTheHoldAndEndsNone(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := acquirer(t, w.Client("a")), w.Client("operator")
		held := lasting(w, a)
		inner, err := a.Acquire(held.Context(), 0)
		require.NoError(t, err)
		require.False(t, requested(held))

		require.NoError(t, lease.RequestRevocation(t.Context(), operator, held.Path()))
		w.Settle()
		require.True(t, requested(held))
		require.True(t, requested(inner))
		require.NoError(t, held.Err())
		require.NoError(t, held.Context().Err())
		w.After(time.Minute)
		require.NoError(t, held.Confirm(t.Context()), "the holder need not obey")
		require.NoError(t, lease.RequestRevocation(t.Context(), operator, held.Path()), "a second request is no error")
		require.NoError(t, inner.Release())
		require.NoError(t, held.Release())
		next := lasting(w, a)
		require.False(t, requested(next), "the request was for that node only")
		require.NoError(t, next.Release())
	})
}

// What the holder says about itself is still there, for all recipes.
func TestRequestRevocationKeepsTheHoldersData(t *testing.T) {
	type recipe struct {
		lease.Acquirer
		contenders func(context.Context) ([]lease.Contender, error)
	}
	for name, open := range map[string]func(t *testing.T, c *framework.Client) recipe{
		"mutex": func(t *testing.T, c *framework.Client) recipe {
			m, err := mutex.New(c, "/x", mutex.WithHolder("me"))
			require.NoError(t, err)
			return recipe{m, m.Contenders}
		},
		"read lock": func(t *testing.T, c *framework.Client) recipe {
			l, err := rwlock.New(c, "/x", rwlock.WithHolder("me"))
			require.NoError(t, err)
			return recipe{l.Read(), l.Contenders}
		},
		"write lock": func(t *testing.T, c *framework.Client) recipe {
			l, err := rwlock.New(c, "/x", rwlock.WithHolder("me"))
			require.NoError(t, err)
			return recipe{l.Write(), l.Contenders}
		},
		"semaphore": func(t *testing.T, c *framework.Client) recipe {
			s, err := semaphore.New(c, "/x", 1, semaphore.WithHolder("me"))
			require.NoError(t, err)
			return recipe{s, s.Contenders}
		},
		"single queue": func(t *testing.T, c *framework.Client) recipe {
			s, err := semaphore.New(c, "/x", 1, semaphore.WithHolder("me"), semaphore.WithSingleQueue())
			require.NoError(t, err)
			return recipe{s, s.Contenders}
		},
		"leader": func(t *testing.T, c *framework.Client) recipe {
			e, err := leader.New(c, "/x", leader.WithID("me"))
			require.NoError(t, err)
			return recipe{e, e.Contenders}
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				r := open(t, w.Client("a"))
				held := lasting(w, r)
				before := data(t, w, held.Path())
				list, err := r.contenders(t.Context())
				require.NoError(t, err)
				require.Len(t, list, 1)
				require.Equal(t, held.Path(), list[0].Path)
				require.NoError(t, lease.RequestRevocation(t.Context(), w.Client("operator"), list[0].Path))
				w.Settle()
				require.True(t, requested(held))
				require.Equal(t, before+"\n"+curatorsMark, data(t, w, held.Path()))
				list, err = r.contenders(t.Context())
				require.NoError(t, err)
				require.Equal(t, "me", list[0].Holder.Who)
				require.NoError(t, held.Release())
			})
		})
	}
}

// Curator's Revoker writes the mark alone, and its holders expect exactly that. But in
// an election Curator shows the data as the id.
func TestRequestRevocationOfAndByCurator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator := w.Client("operator")
		held := lasting(w, acquirer(t, w.Client("a")))
		_, err := operator.Set(t.Context(), held.Path(), []byte(curatorsMark), framework.AnyVersion)
		require.NoError(t, err)
		w.Settle()
		require.True(t, requested(held))
		require.NoError(t, held.Release())

		for node, want := range map[string]string{
			"_c_9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d-lock-0000000007":    curatorsMark,
			"_c_9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d-__READ__0000000008": curatorsMark,
			"_c_9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d-latch-0000000009":   "10.0.0.1\n" + curatorsMark,
			"_c_9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d-lease-0000000010":   curatorsMark,
			"_c_9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d-__WRIT__0000000011": curatorsMark,
			"_c_0123456789abcdef0123456789abcdef-lock-0000000012":        curatorsMark, // go-zookeeper's lock
			"lock-0000000013":              curatorsMark,
			"made-by-hand-lock-0000000014": curatorsMark,
			"lock--2147483648":             curatorsMark,
			"anybody-permits-3-0000000015": curatorsMark,
			"anybody-__WRIT__0000000016":   curatorsMark,
		} {
			path := "/locks/orders/" + node
			_, err := operator.Create(t.Context(), path, []byte("10.0.0.1"), framework.Ephemeral)
			require.NoError(t, err)
			require.NoError(t, lease.RequestRevocation(t.Context(), operator, path))
			require.Equal(t, want, data(t, w, path), node)
			require.NoError(t, lease.RequestRevocation(t.Context(), operator, path))
			require.Equal(t, want, data(t, w, path), "written once")
			w.Remove(operator, path)
		}
		path := "/locks/orders/latch-0000000012"
		_, err = operator.Create(t.Context(), path, nil, framework.Ephemeral)
		require.NoError(t, err)
		require.NoError(t, lease.RequestRevocation(t.Context(), operator, path))
		require.Equal(t, curatorsMark, data(t, w, path), "there is no id to keep")
		w.Remove(operator, path)
	})
}

// The request is written exactly once, whether the answer is dropped or the request is.
func TestRequestRevocationOfUnknownOutcome(t *testing.T) {
	for name, strike := range map[string]func(*zktest.Rule){
		"cut before":      func(r *zktest.Rule) { r.Before().Cut() },
		"cut after":       func(r *zktest.Rule) { r.After().Cut() },
		"reply dropped":   func(r *zktest.Rule) { r.After().DropReply() },
		"request dropped": func(r *zktest.Rule) { r.Before().DropReply() },
		"session lost":    func(r *zktest.Rule) { r.After().Expire() },
		"session gone":    func(r *zktest.Rule) { r.Before().Expire() },
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				operator := w.Client("operator")
				held := lasting(w, acquirer(t, w.Client("a")))
				before := data(t, w, held.Path())
				strike(w.Server.On(zktest.OpSetData, held.Path()))
				require.NoError(t, lease.RequestRevocation(t.Context(), operator, held.Path()))
				w.Settle()
				require.True(t, requested(held))
				require.Equal(t, before+"\n"+curatorsMark, data(t, w, held.Path()))
				node, _ := w.Server.Node(held.Path())
				require.EqualValues(t, 1, node.Version, "written once")
				require.NoError(t, held.Release())
			})
		})
	}
}

// A request does not undo what another client writes at the same time.
func TestRequestRevocationKeepsAConcurrentWrite(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator, other := w.Client("operator"), w.Client("other")
		held := lasting(w, acquirer(t, w.Client("a")))
		const renamed = `{"who":"renamed"}`
		late := w.Server.On(zktest.OpSetData, held.Path()).Client("operator").Before()
		late.Delay(time.Second)
		done := make(chan error, 1)
		go func() { done <- lease.RequestRevocation(t.Context(), operator, held.Path()) }()
		<-late.Fired()
		_, err := other.Set(t.Context(), held.Path(), []byte(renamed), framework.AnyVersion)
		require.NoError(t, err)
		require.False(t, requested(held))
		require.NoError(t, <-done)
		w.Settle()
		require.True(t, requested(held))
		require.True(t, strings.HasPrefix(data(t, w, held.Path()), renamed), "the other write is kept")
		require.NoError(t, held.Release())
	})
}

func TestRequestRevocationAfterTheRelease(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator := w.Client("operator")
		a := acquirer(t, w.Client("a"))
		held := w.Acquire(a)
		require.NoError(t, held.Release())
		err := lease.RequestRevocation(t.Context(), operator, held.Path())
		require.ErrorIs(t, err, framework.ErrNoNode)
		require.True(t, strings.HasPrefix(err.Error(), "request revocation of "+held.Path()+": "), err)

		held = lasting(w, a) // and between the two requests
		late := w.Server.On(zktest.OpSetData, held.Path()).Before()
		late.Delay(time.Second)
		done := make(chan error, 1)
		go func() { done <- lease.RequestRevocation(t.Context(), operator, held.Path()) }()
		<-late.Fired()
		require.NoError(t, held.Release())
		require.ErrorIs(t, <-done, framework.ErrNoNode)
		require.False(t, requested(held))
	})
}

func TestRequestRevocationEndsWithItsContext(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator := w.Client("operator")
		held := lasting(w, acquirer(t, w.Client("a")))
		w.Server.On(zktest.OpSetData, held.Path()).Always().After().DropReply()
		reason := errors.New("no time")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, reason)
		defer cancel()
		require.ErrorIs(t, lease.RequestRevocation(ctx, operator, held.Path()), reason)
		require.NoError(t, held.Release())
		require.NoError(t, operator.Close())
		require.ErrorIs(t, lease.RequestRevocation(t.Context(), operator, held.Path()), framework.ErrClosed)
	})
}

// A contender that waits sees the request when it is granted.
func TestRequestRevocationOfAContenderThatWaits(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := acquirer(t, w.Client("a")), acquirer(t, w.Client("b"))
		held := lasting(w, a)
		attempt := w.Start(b, lease.Forever)
		list, err := b.(*mutex.Mutex).Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Client("operator"), list[1].Path))
		w.After(time.Second)
		require.True(t, attempt.Waiting(), "its queue position is not affected")
		require.False(t, requested(held))
		require.NoError(t, held.Release())
		<-attempt.Done()
		require.NoError(t, attempt.Err)
		w.After(100 * time.Millisecond)
		require.True(t, requested(attempt.Lease))
		require.NoError(t, attempt.Lease.Release())
	})
}

// The request is found also if the watch for it broke with the connection.
func TestRequestRevocationDuringAnOutageOfTheHolder(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := lasting(w, acquirer(t, w.Client("a")))
		w.Server.RefuseConnections("a", true)
		w.Server.DropConnections("a")
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Client("operator"), held.Path()))
		w.After(conformance.SessionTimeout / 4)
		require.False(t, requested(held))
		w.Server.RefuseConnections("a", false)
		w.After(time.Second)
		require.True(t, requested(held))
		require.NoError(t, held.Release())
	})
}
