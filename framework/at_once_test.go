package framework_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A sender sends both reads of a view that is pinned to the present session.
type sender struct {
	kit.Kit
	lists, gets chan error
	events      chan framework.Event
}

func newSender(p place) *sender {
	return &sender{kit.Of(p.In(p.Session())), make(chan error, 10), make(chan error, 10), make(chan framework.Event, 10)}
}

func (s *sender) list(path string) bool {
	return s.SendChildren(path, func(_ []string, err error) { s.lists <- err })
}

func (s *sender) get(path string) bool {
	return s.SendGet(path, func(ev framework.Event) { s.events <- ev }, func(_ []byte, _ framework.Stat, _ func(), err error) { s.gets <- err })
}

func TestReadsAtOnce(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		node, err := p.create(t.Context())
		require.NoError(t, err)
		view := kit.Of(p.In(p.Session()))
		names := make(chan []string, 1)
		require.True(t, view.SendChildren("/queue", func(children []string, err error) {
			assert.NoError(t, err)
			names <- children
		}))
		assert.Equal(t, p.nodes(), <-names)

		seen := make(chan string, 3)
		stops := make(chan func(), 1)
		get := func() bool {
			return view.SendGet(node.Path, func(ev framework.Event) { seen <- ev.Type.String() }, func(data []byte, stat framework.Stat, stop func(), err error) {
				assert.NoError(t, err)
				assert.Equal(t, node.Czxid, stat.Czxid)
				seen <- string(data)
				stops <- stop
			})
		}
		require.True(t, get())
		require.Equal(t, "me", <-seen)
		(<-stops)()
		require.True(t, get())
		require.Equal(t, "me", <-seen)
		require.NoError(t, p.Delete(t.Context(), node.Path, framework.AnyVersion))
		require.Equal(t, "deleted", <-seen)
		synctest.Wait()
		require.Empty(t, seen, "the first watch was stopped")
	})
}

// A read that fails is not repeated, and leaves nothing.
func TestReadsAtOnceAreNotRepeated(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		node, err := p.create(t.Context())
		require.NoError(t, err)
		s := newSender(p)
		for _, tc := range []struct {
			fault func(r *zktest.Rule)
			err   error
		}{
			{func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) }, framework.ErrThrottled},
			{func(r *zktest.Rule) { r.Fail(zktest.NoNode) }, framework.ErrNoNode},
			{func(r *zktest.Rule) { r.Cut() }, framework.ErrUnknownOutcome},
			{func(r *zktest.Rule) { r.After().Cut() }, framework.ErrUnknownOutcome},
			{func(r *zktest.Rule) { r.Fail(zktest.SessionExpired) }, framework.ErrSessionExpired},
		} {
			tc.fault(p.server.On(zktest.OpGetChildren2, p.FullPath("/queue")))
			require.True(t, s.list("/queue"))
			require.ErrorIs(t, <-s.lists, tc.err)
			if errors.Is(tc.err, framework.ErrSessionExpired) {
				break
			}
			require.NoError(t, p.Sync(t.Context(), "/"))
			tc.fault(p.server.On(zktest.OpGetData, p.FullPath(node.Path)))
			require.True(t, s.get(node.Path))
			require.ErrorIs(t, <-s.gets, tc.err)
			require.NoError(t, p.Sync(t.Context(), "/"))
		}
		require.False(t, s.list("/queue"), "its session is over at once")
		require.False(t, s.get(node.Path))
		synctest.Wait()
		require.Empty(t, s.lists)
		require.Empty(t, s.gets)
		require.Empty(t, s.events, "no watch is left")
	})
}

// What cannot be sent now is not sent: there is no connection, or there are too many
// requests.
func TestReadsAtOnceDoNotWait(t *testing.T) {
	protect(t, func(t *testing.T, p place) {
		node, err := p.create(t.Context())
		require.NoError(t, err)
		s := newSender(p)
		for range 3 { // nothing is kept of those that are not sent, nor of those that are answered
			require.False(t, s.list("/"+strings.Repeat("x", 2000)), "it is too large")
			require.False(t, s.get("/"+strings.Repeat("x", 2000)))
			p.server.On(zktest.OpGetChildren2, p.FullPath("/queue")).Delay(time.Second)
			require.True(t, s.list("/queue"))
			require.True(t, s.get(node.Path))
			require.False(t, s.list("/queue"), "two are under way")
			require.False(t, s.get(node.Path))
			require.NoError(t, <-s.lists)
			require.NoError(t, <-s.gets)
		}
		p.server.RefuseConnections("", true)
		suspended := p.Session().Suspended()
		p.server.DropConnections("")
		<-suspended
		require.False(t, s.list("/queue"))
		require.False(t, s.get(node.Path))
		p.server.RefuseConnections("", false)
		require.NoError(t, p.Sync(t.Context(), "/"))
		require.NoError(t, p.Delete(t.Context(), node.Path, framework.AnyVersion))
		for range 3 {
			require.Equal(t, framework.EventDeleted, (<-s.events).Type)
		}
		synctest.Wait()
		require.Empty(t, s.events, "of the reads that were sent")
	}, func(cfg *framework.Config) { cfg.MaxOutstanding, cfg.MaxRequestBytes = 2, 2000 })
}

// Observers are notified of each that is answered.
func TestReadsAtOnceAreObserved(t *testing.T) {
	var ended []framework.Request
	observer := framework.Observer{RequestEnded: func(_ context.Context, r framework.Request) { ended = append(ended, r) }}
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		c := connect(t, server, func(cfg *framework.Config) {
			cfg.Namespace, cfg.Observers = "here", []framework.Observer{observer}
		})
		s := newSender(place{c, server})
		synctest.Wait()
		ended = nil
		server.On(zktest.OpGetChildren2, "").Delay(time.Second)
		require.True(t, s.list("/queue"))
		require.ErrorIs(t, <-s.lists, framework.ErrNoNode)
		require.Len(t, ended, 1)
		require.ErrorIs(t, ended[0].Err, framework.ErrNoNode)
		ended[0].Err = nil
		require.Equal(t, framework.Request{Op: "children", Path: "/here/queue", Session: c.Session().ID(), Attempt: 1, Duration: time.Second}, ended[0])
	})
}
