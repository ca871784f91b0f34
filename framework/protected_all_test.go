package framework_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// makeOld makes a node named old.
func (p place) makeOld(t *testing.T) string {
	t.Helper()
	_, err := p.Create(t.Context(), "/old", nil, framework.Ephemeral)
	require.NoError(t, err)
	p.server.ResetCounts()
	return "/old"
}

// exchange makes three nodes and removes that one.
func (p place) exchange(ctx context.Context, old string) ([]framework.Created, error) {
	return kit.Of(p.Client).CreateProtectedAll(ctx, "/queue/n-", []byte("me"), 3, nil, framework.DeleteOp(old, framework.AnyVersion))
}

// exchanged asserts that the transaction was carried out, once.
func (p place) exchanged(t *testing.T, made []framework.Created) {
	t.Helper()
	require.Len(t, made, 3)
	require.Len(t, p.nodes(), 3, p.server.Dump())
	for i, node := range made {
		info, ok := p.server.Node(p.FullPath(node.Path))
		require.True(t, ok)
		assert.Equal(t, info.Czxid, node.Czxid)
		assert.Equal(t, p.Session().ID(), node.Session)
		assert.Equal(t, p.Session().ID(), info.EphemeralOwner)
		assert.Equal(t, "me", string(info.Data))
		assert.Equal(t, made[0].Path[:len(made[0].Path)-10], node.Path[:len(node.Path)-10], "one id for all")
		if i > 0 {
			assert.Greater(t, node.Path, made[i-1].Path)
		}
	}
	_, ok := p.server.Node(p.FullPath("/old"))
	assert.False(t, ok, "the old node is gone")
}

func TestProtectedCreateOfSeveral(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		made, err := p.exchange(t.Context(), p.makeOld(t))
		require.NoError(t, err)
		p.exchanged(t, made)
		assert.Equal(t, map[zktest.Op]int{zktest.OpMulti: 1}, requests(p.server), "one request and nothing else")
	})
}

func TestProtectedCreateOfSeveralIsAllOrNothing(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		_, err := p.exchange(t.Context(), "/missing")
		require.ErrorIs(t, err, framework.ErrNoNode)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
		assert.Empty(t, p.nodes())
		_, err = kit.Of(p.Client).CreateProtectedAll(t.Context(), "/queue/n-", nil, 0, nil)
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
	})
}

func TestProtectedCreateOfSeveralWhoseAnswerIsDropped(t *testing.T) {
	for name, aim := range map[string]func(*zktest.Rule) *zktest.Rule{
		"before it is applied": (*zktest.Rule).Before,
		"after it was applied": (*zktest.Rule).After,
	} {
		t.Run(name, func(t *testing.T) {
			protect(t, func(t *testing.T, p place) {
				old := p.makeOld(t)
				aim(p.server.On(zktest.OpMulti, "")).Cut()
				made, err := p.exchange(t.Context(), old)
				require.NoError(t, err)
				p.exchanged(t, made)
				assert.Equal(t, 1, p.server.Count(zktest.OpMulti))
			})
		})
	}
}

// A refusal that follows an attempt without an answer may only say that this one was
// carried out meanwhile.
func TestProtectedCreateOfSeveralIsRefusedBecauseItWasCarriedOut(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		old := p.makeOld(t)
		var stage atomic.Int32
		var asked string
		looked := make(chan struct{})
		p.server.SetFaults(func(c zktest.Call) zktest.Action {
			switch {
			case c.Op == zktest.OpMulti && c.Phase == zktest.PhaseBeforeApply && stage.CompareAndSwap(0, 1):
				asked = c.Path[strings.LastIndexByte(c.Path, '/'):]
				return zktest.CutConnection
			case c.Op == zktest.OpGetChildren2 && c.Phase == zktest.PhaseAfterApply && stage.CompareAndSwap(1, 2):
				close(looked) // and seen none
				return zktest.Delay(time.Second)
			}
			return zktest.Pass
		})
		made := make(chan []framework.Created, 1)
		go func() {
			nodes, err := p.exchange(t.Context(), old)
			assert.NoError(t, err)
			made <- nodes
		}()
		<-looked
		node := framework.CreateOp("/queue"+asked, []byte("me"), framework.EphemeralSequential)
		_, err := p.Multi(t.Context(), node, node, node, framework.DeleteOp(old, framework.AnyVersion)) // what the first would have done
		require.NoError(t, err)
		p.exchanged(t, <-made)
	})
}

func TestProtectedCreateOfSeveralThatGivesUpLeavesNothing(t *testing.T) {
	for name, strike := range map[string]func(p place){
		"cut off": func(p place) {
			p.server.RefuseConnections("client", true)
			p.server.On(zktest.OpMulti, "").After().Cut()
		},
		"late":          func(p place) { p.server.On(zktest.OpMulti, "").Before().Delay(time.Second) },
		"answered late": func(p place) { p.server.On(zktest.OpMulti, "").After().Delay(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			protect(t, func(t *testing.T, p place) {
				old := p.makeOld(t)
				strike(p)
				_, err := p.exchange(within(t, 500*time.Millisecond), old)
				require.ErrorIs(t, err, errStopped)
				require.ErrorIs(t, err, framework.ErrUnknownOutcome)
				time.Sleep(2 * time.Second)
				reach(p.server, "client")
				assert.Empty(t, p.nodes())
				assert.NoError(t, p.Session().Err())
			})
		})
	}
}

// A node under a name that is given whole is protected as well.
func TestProtectedCreateOfANamedEphemeral(t *testing.T) {
	for name, aim := range map[string]func(*zktest.Rule) *zktest.Rule{
		"before it is applied": (*zktest.Rule).Before,
		"after it was applied": (*zktest.Rule).After,
	} {
		t.Run(name, func(t *testing.T) {
			protect(t, func(t *testing.T, p place) {
				aim(p.server.On(zktest.OpCreate, "")).Cut()
				made, err := p.CreateProtected(t.Context(), "/queue/n-0000000007", []byte("me"), framework.Ephemeral)
				require.NoError(t, err)
				require.Len(t, p.nodes(), 1)
				assert.Equal(t, "/queue/"+p.nodes()[0], made.Path)
				assert.True(t, strings.HasSuffix(made.Path, "-n-0000000007"))
				info, _ := p.server.Node(p.FullPath(made.Path))
				assert.Equal(t, info.Czxid, made.Czxid)
			})
		})
	}
}
