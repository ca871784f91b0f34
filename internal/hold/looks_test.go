package hold_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// pair makes two nodes in one transaction.
func (p world) pair(t *testing.T) []framework.Created {
	t.Helper()
	made, err := kit.Of(p.In(p.Session())).CreateProtectedAll(t.Context(), "/lock/n-", nil, 2, nil)
	require.NoError(t, err)
	return made
}

// grantPair makes a hold on them.
func (p world) grantPair(t *testing.T, made []framework.Created, change ...func(*hold.Grant)) *lease.Lease {
	t.Helper()
	session := p.Session()
	reliance, err := kit.Of(p.In(session)).Rely(t.Context(), made[0].Path, made[1].Path)
	require.NoError(t, err)
	g := hold.Grant{
		Client: p.In(session), Session: session, Reliance: reliance, Key: p.key(),
		Path: made[0].Path, Also: []string{made[1].Path}, Token: lease.Token(made[0].Czxid),
	}
	for _, f := range change {
		f(&g)
	}
	return hold.Start(t.Context(), g)
}

// The watch that comes with a grant is on its first node. Another has its own.
func TestGrantedWatchIsOnTheFirstNode(t *testing.T) {
	for i, which := range []string{"the first node", "another"} {
		t.Run(which, func(t *testing.T) {
			granting(t, func(t *testing.T, p world) {
				made := p.pair(t)
				_, watched := p.watched(t)
				h := p.grantPair(t, made, watched)
				time.Sleep(time.Second)
				require.NoError(t, dial(t, p.server, "other").Delete(t.Context(), made[i].Path, -1))
				synctest.Wait()
				lostTo(t, h, lease.ErrDeleted)
			})
		})
	}
}

// A hold that is released ends the watch that came with its grant. While the node of a
// lost one exists others may rely on its watch.
func TestGrantedWatchEndsWithTheNode(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, p world, h *lease.Lease){
		"released": func(t *testing.T, p world, h *lease.Lease) { require.NoError(t, h.Release()) },
		"lost": func(t *testing.T, p world, h *lease.Lease) {
			<-h.Context().Done()
			synctest.Wait()
			lostTo(t, h, lease.ErrMaxHold)
		},
		"deleted without an event": func(t *testing.T, p world, h *lease.Lease) {
			p.server.On(zktest.OpExists, "/ns"+h.Path()).Fail(zktest.NoNode)
			<-h.Context().Done()
			synctest.Wait()
			lostTo(t, h, lease.ErrDeleted)
		},
	} {
		t.Run(name, func(t *testing.T) {
			granting(t, func(t *testing.T, p world) {
				w, watched := p.watched(t)
				h := p.grant(t, t.Context(), watched, maxHold(2*timeout))
				time.Sleep(time.Second / 2)
				require.False(t, w.isStopped())
				end(t, p, h)
				synctest.Wait()
				require.Equal(t, name != "lost", w.isStopped())
				if name == "lost" {
					time.Sleep(grace + time.Second)
					require.Zero(t, p.nodes())
					require.True(t, w.fired, "it has seen the node go")
				}
			})
		})
	}
}

// A hold is not lost because reads of its nodes fail, in whichever way, and goes on to
// look until it has its watches. Retries would hide that here.
func TestHoldOutlivesFailingLooks(t *testing.T) {
	strikes := []func(r *zktest.Rule){
		func(r *zktest.Rule) { r.Cut() },
		func(r *zktest.Rule) { r.After().Cut() },
		func(r *zktest.Rule) { r.DropReply() },
		func(r *zktest.Rule) { r.After().Mute() },
	}
	for _, code := range []zktest.Code{
		zktest.ThrottledOp, zktest.OperationTimeout, zktest.RuntimeInconsistency, zktest.ConnectionLoss,
		zktest.MarshallingError, zktest.BadArguments, zktest.QuotaExceeded,
	} {
		strikes = append(strikes, func(r *zktest.Rule) { r.Fail(code) })
	}
	for i, which := range []string{"the first node", "another"} {
		t.Run(which, func(t *testing.T) {
			granting(t, func(t *testing.T, p world) {
				made := p.pair(t)
				var h *lease.Lease
				for _, strike := range strikes {
					rule := p.server.On(zktest.OpGetData, "/ns"+made[i].Path)
					strike(rule)
					if h == nil {
						h = p.grantPair(t, made)
					}
					select {
					case <-rule.Fired():
					case <-time.After(timeout):
						t.Fatal("it does not look again")
					}
				}
				time.Sleep(timeout)
				require.NoError(t, h.Err())
				require.Equal(t, 2, p.server.Watches())
				require.NoError(t, dial(t, p.server, "other").Delete(t.Context(), made[i].Path, -1))
				synctest.Wait()
				lostTo(t, h, lease.ErrDeleted)
			}, func(cfg *framework.Config) { cfg.Retry = retry.None() })
		})
	}
}
