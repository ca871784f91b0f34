package leader_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestInvalidArguments(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for name, tc := range map[string]struct {
			path, id string
			opts     []leader.Option
			want     error
		}{
			"no path":                {"", "id", nil, framework.ErrInvalidPath},
			"a relative path":        {"services", "id", nil, framework.ErrInvalidPath}, // Curator's testRelativePath
			"the root":               {"/", "id", nil, framework.ErrInvalidPath},
			"an id not in UTF-8":     {path, "\xff", nil, framework.ErrInvalidArgument},
			"an id like a mark":      {path, "x__REVOKE__", nil, framework.ErrInvalidArgument},
			"a label not in UTF-8":   {path, "", []leader.Option{leader.WithHolder("\xff")}, framework.ErrInvalidArgument},
			"a negative maximum":     {path, "id", []leader.Option{leader.WithMaxHold(-1)}, framework.ErrInvalidArgument},
			"a backoff that spins":   {path, "id", []leader.Option{leader.WithBackoff(retry.Constant(0))}, framework.ErrInvalidArgument},
			"a backoff that shrinks": {path, "id", []leader.Option{leader.WithBackoff(retry.Exponential(2, 1))}, framework.ErrInvalidArgument},
		} {
			_, err := leader.New(c, tc.path, append(tc.opts, leader.WithID(tc.id))...)
			require.ErrorIs(t, err, tc.want, name)
			require.ErrorContains(t, err, "leader", name)
		}
		_, err := leader.New(nil, path)
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		require.ErrorIs(t, newElection(t, c, "a").Lead(t.Context(), nil), framework.ErrInvalidArgument)
		require.Empty(t, w.Ephemerals("/"))
	})
}

// The nodes are those of Curator's LeaderLatch.
func TestNodesAreCurators(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		for _, id := range []string{"node 1", "", "ünïcode 名", "{}", "\n"} {
			e := newElection(t, w.Client("a"), id)
			term := w.Acquire(e)
			require.Regexp(t, `^/services/billing/leader/_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-latch-[0-9]{10}$`, term.Path())
			info, ok := w.Server.Node(term.Path())
			require.True(t, ok)
			require.Equal(t, e.ID(), string(info.Data))
			require.NotZero(t, info.EphemeralOwner)
			if id == "" {
				host, err := os.Hostname()
				require.NoError(t, err)
				id = fmt.Sprintf("%s:%d", host, os.Getpid())
			}
			require.Equal(t, id, e.ID())
			got, ok, err := e.Leader(t.Context())
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, lease.Holder{Who: id}, got.Holder)
			require.NoError(t, term.Release())
		}
		require.NotEmpty(t, w.Server.Children("/services/billing"), "the path is not deleted")
	})
}

// The label is a part of the default id; WithID replaces both.
func TestHolderIsPartOfTheID(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		host, err := os.Hostname()
		require.NoError(t, err)
		process := fmt.Sprintf("%s:%d", host, os.Getpid())
		for want, opts := range map[string][]leader.Option{
			process:              nil,
			"billing@" + process: {leader.WithHolder("billing")},
			"db1":                {leader.WithID("db1"), leader.WithHolder("billing")},
		} {
			e, err := leader.New(w.Client("a"), path, opts...)
			require.NoError(t, err)
			require.Equal(t, want, e.ID())
			term := w.Acquire(e)
			present, ok, err := e.Leader(t.Context())
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, lease.Holder{Who: want}, present.Holder)
			require.NoError(t, term.Release())
		}
	})
}

// A Curator latch without an id counts, and children that are not latches do not.
func TestOthersOnThePath_Curator43(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		java, e := w.Client("java"), newElection(t, w.Client("a"), "a")
		require.NoError(t, java.CreateParents(t.Context(), path+"/x"))
		for _, foreign := range []string{"abc", "0abc", "x-latch-", "latch-1", "_c_x", "x-lock-0000000000"} {
			_, err := java.Create(t.Context(), path+"/"+foreign, nil, framework.Persistent)
			require.NoError(t, err)
		}
		_, ok, err := e.Leader(t.Context())
		require.NoError(t, err)
		require.False(t, ok)
		node, err := java.Create(t.Context(), path+"/_c_6ba7b810-9dad-11d1-80b4-00c04fd430c8-latch-", nil, framework.EphemeralSequential)
		require.NoError(t, err)
		waiting := w.Start(e, lease.Forever)
		require.True(t, waiting.Waiting())
		all, err := e.Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, []bool{true, false}, []bool{all[0].Holding, all[1].Holding})
		require.Equal(t, []string{"", "a"}, []string{all[0].Holder.Who, all[1].Holder.Who})
		require.Equal(t, []string{lease.KindLeader, lease.KindLeader}, []string{all[0].Kind, all[1].Kind})
		w.Remove(java, node.Path)
		require.NoError(t, waiting.Granted().Release())
	})
}

// After a request for revocation the leader still shows its id, without the mark.
func TestLeaderKeepsItsIDAfterARequest(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		for _, id := range []string{"node 1", "two\n", `{"who":"json"}`} {
			e := newElection(t, w.Client("a"), id)
			term := w.Acquire(e)
			w.After(100 * time.Millisecond)
			operator := w.Client("operator")
			present, ok, err := newElection(t, operator, "operator").Leader(t.Context())
			require.NoError(t, err)
			require.True(t, ok)
			require.NoError(t, lease.RequestRevocation(t.Context(), operator, present.Path))
			w.Settle()
			require.True(t, conformance.Closed(term.RevocationRequested()), "no request")
			require.NoError(t, term.Err(), "the leader decides")
			again, ok, err := e.Leader(t.Context())
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, id, again.Holder.Who)
			require.Equal(t, present, again)
			all, err := e.Contenders(t.Context())
			require.NoError(t, err)
			require.Equal(t, []lease.Contender{again}, all)
			require.NoError(t, term.Release())
		}
	})
}

func TestLeaderOfPathThatDoesNotExist_Curator436(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		e := newElection(t, w.Client("a"), "a")
		present, ok, err := e.Leader(t.Context())
		require.NoError(t, err)
		require.False(t, ok)
		require.Zero(t, present)
		all, err := e.Contenders(t.Context())
		require.NoError(t, err)
		require.Empty(t, all)
		_, exists := w.Server.Node("/services")
		require.False(t, exists, "a read creates nothing")
	})
}

// Candidates leave between the listing and the reads.
func TestContendersVanish_Curator358(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("b"), "b"), newElection(t, w.Client("c"), "c")
		for _, ask := range []func() (string, error){
			func() (string, error) {
				present, _, err := c.Leader(t.Context())
				return present.Holder.Who, err
			},
			func() (string, error) {
				all, err := c.Contenders(t.Context())
				if len(all) == 0 {
					return "", err
				}
				return all[0].Holder.Who, err
			},
		} {
			first, second := w.Acquire(a), w.Start(b, lease.Forever)
			late := w.Server.On(zktest.OpGetChildren2, path).Client("c").After().Delay(time.Second)
			go func() {
				<-late.Fired()
				_ = first.Release()
			}()
			who, err := ask()
			require.NoError(t, err)
			require.Equal(t, "b", who)

			late = w.Server.On(zktest.OpGetChildren2, path).Client("c").After().Delay(time.Second)
			go func() {
				<-late.Fired()
				_ = second.Granted().Release()
			}()
			who, err = ask()
			require.NoError(t, err)
			require.Empty(t, who)
		}
	})
}

// If an ACL forbids to read and to join, all calls fail at once and do not spin.
func TestACLError_Curator365(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		owner := w.Client("owner", func(cfg *framework.Config) {
			cfg.Auth = []framework.Credential{framework.DigestAuth("owner", "secret")}
		})
		require.NoError(t, owner.CreateParents(t.Context(), path))
		_, err := owner.Create(t.Context(), path, nil, framework.Persistent, framework.WithACL(framework.CreatorACL(framework.PermAll)))
		require.NoError(t, err)
		e := newElection(t, w.Client("a"), "a")
		w.Server.ResetCounts()
		_, _, err = e.Leader(t.Context())
		require.ErrorIs(t, err, framework.ErrNoAuth)
		require.ErrorContains(t, err, path)
		_, err = e.Contenders(t.Context())
		require.ErrorIs(t, err, framework.ErrNoAuth)
		_, err = e.Acquire(t.Context(), lease.Forever)
		require.ErrorIs(t, err, framework.ErrNoAuth)
		require.ErrorIs(t, lead(w, e, newOffice().until("a", 0)).result(), framework.ErrNoAuth)
		seen := 0
		for _, err := range e.Observe(t.Context()) {
			require.ErrorIs(t, err, framework.ErrNoAuth)
			require.ErrorContains(t, err, path)
			seen++
		}
		require.Equal(t, 1, seen)
		require.Less(t, w.Server.Count(zktest.OpCreate)+w.Server.Count(zktest.OpGetChildren2), 12)
	})
}

// If repetition cannot help, the error of Lead says where and why.
func TestLeadEndsWhenRepetitionCannotHelp(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		long := newElection(t, w.Client("a", func(cfg *framework.Config) { cfg.MaxRequestBytes = 512 }), strings.Repeat("x", 1<<10))
		err := lead(w, long, newOffice().until("a", 0)).result()
		require.ErrorIs(t, err, framework.ErrTooLarge)
		require.ErrorContains(t, err, "lead")
		require.ErrorContains(t, err, path)

		c := w.Client("b")
		e, o := newElection(t, c, "b"), newOffice()
		started := lead(w, e, o.until("b", 0))
		o.next(t)
		require.NoError(t, c.Close())
		require.ErrorIs(t, started.result(), framework.ErrClosed)
		require.ErrorIs(t, e.Lead(t.Context(), o.until("b", 0)), framework.ErrClosed)
		o.check(t)
	})
}
