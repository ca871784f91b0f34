package framework_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// calls records the calls of functions that GetNotify was given.
type calls struct {
	mu  sync.Mutex
	all []string
}

func (c *calls) of(name string) func(framework.Event) {
	return func(ev framework.Event) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all = append(c.all, fmt.Sprint(name, " ", ev.Type))
	}
}

// take returns the calls since it was called last.
func (c *calls) take() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.all
	c.all = nil
	return all
}

func getNotify(t *testing.T, c *framework.Client, path string, notify func(framework.Event)) (stop func()) {
	t.Helper()
	_, _, stop, err := kit.Of(c).GetNotify(t.Context(), path, notify)
	require.NoError(t, err)
	return stop
}

func TestNotifyIsCalledOnceForTheFirstChange(t *testing.T) {
	watching(t, func(t *testing.T, _ *zktest.Server, c, other *framework.Client) {
		var got calls
		set(t, other, "/node")
		data, stat, stop, err := kit.Of(c).GetNotify(t.Context(), "/node", got.of("one"))
		require.NoError(t, err)
		assert.Equal(t, "x", string(data))
		assert.EqualValues(t, 1, stat.Version)
		assert.Empty(t, got.take())
		set(t, other, "/node")
		assert.Equal(t, []string{"one data changed"}, got.take())
		remove(t, other, "/node")
		stop()
		assert.Empty(t, got.take())
		_, _, stop, err = kit.Of(c).GetNotify(t.Context(), "/node", got.of("none"))
		require.ErrorIs(t, err, framework.ErrNoNode)
		assert.Nil(t, stop)
		create(t, other, "/node")
		getNotify(t, c, "/node", got.of("two"))
		remove(t, other, "/node")
		assert.Equal(t, []string{"two deleted"}, got.take())
	})
}

// All who wait for one node share a watch of the server, and are notified in the order
// of their reads; nodes are in the order of the server's events.
func TestNotifyKeepsTheOrderOfEvents(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		var got calls
		var want []string
		for i := range 20 {
			path := fmt.Sprint("/node/", i)
			create(t, other, path)
			first := getWatch(t, c, path)
			for _, who := range []string{"a", "b"} {
				getNotify(t, c, path, func(ev framework.Event) {
					assert.Len(t, first.Events(), 1, "not in order")
					got.of(path + who)(ev)
				})
				want = append(want, path+who+" deleted")
			}
		}
		assert.Equal(t, 20, s.Watches())
		for i := range 20 {
			remove(t, other, fmt.Sprint("/node/", i))
		}
		assert.Equal(t, want, got.take())
		assert.Zero(t, s.Watches())
	})
}

// A watch that was stopped takes nothing from others of the node, and is used again.
func TestNotifyThatIsStopped(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		var got calls
		first, middle := getNotify(t, c, "/node", got.of("first")), getNotify(t, c, "/node", got.of("middle"))
		last := getNotify(t, c, "/node", got.of("last"))
		w := getWatch(t, c, "/node")
		middle()
		first()
		first()
		assert.Equal(t, 1, s.Watches())
		set(t, other, "/node")
		assert.Equal(t, []string{"last data changed"}, got.take())
		fired(t, w)
		last()

		getNotify(t, c, "/node", got.of("alone"))()
		assert.Equal(t, 1, s.Watches(), "kept for a while")
		getNotify(t, c, "/node", got.of("next"))
		remove(t, other, "/node")
		assert.Equal(t, []string{"next deleted"}, got.take())
	})
}

// The context of the read bounds the read alone.
func TestNotifyOutlivesTheContextOfItsRead(t *testing.T) {
	watching(t, func(t *testing.T, _ *zktest.Server, c, other *framework.Client) {
		var got calls
		ctx, cancel := context.WithCancel(t.Context())
		_, _, _, err := kit.Of(c).GetNotify(ctx, "/node", got.of("one"))
		require.NoError(t, err)
		cancel()
		remove(t, other, "/node")
		assert.Equal(t, []string{"one deleted"}, got.take())
	})
}

func TestNotifyOfTheEndOfTheSession(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, _ *framework.Client) {
		var got calls
		var reason error
		session := c.Session()
		getNotify(t, c, "/node", func(ev framework.Event) {
			reason = ev.Err
			got.of("one")(ev)
		})
		getNotify(t, c, "/node", got.of("stopped"))()
		s.ExpireSession(session.ID())
		<-session.Done()
		assert.Equal(t, []string{"one session ended"}, got.take())
		assert.Equal(t, session.Err(), reason)
	})
}

func TestNotifyWhenWatchesCannotBeSetAgain(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		var got calls
		getNotify(t, c, "/node", got.of("one"))
		s.DropConnections("client")
		time.Sleep(2 * time.Second)
		assert.Empty(t, got.take(), "set again")
		s.On(zktest.OpSetWatches, "").Fail(zktest.RuntimeInconsistency)
		s.DropConnections("client")
		time.Sleep(2 * time.Second)
		assert.Equal(t, []string{"one recheck"}, got.take())
		getNotify(t, c, "/node", got.of("two"))
		remove(t, other, "/node")
		assert.Equal(t, []string{"two deleted"}, got.take())
	})
}

// However the first attempt of a read ends, a read that succeeds leads to one call, and
// one that fails to none afterwards.
func TestNotifyOfAReadWithoutAnAnswer(t *testing.T) {
	for name, fault := range map[string]func(r *zktest.Rule){
		"cut":            func(r *zktest.Rule) { r.Cut() },
		"answer dropped": func(r *zktest.Rule) { r.After().Cut() },
		"throttled":      func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) },
		"answered late":  func(r *zktest.Rule) { r.After().Delay(time.Second) },
		"read late":      func(r *zktest.Rule) { r.Delay(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
				var got calls
				fault(s.On(zktest.OpGetData, "/node").Client("client"))
				getNotify(t, c, "/node", got.of("one"))
				assert.Empty(t, got.take())
				set(t, other, "/node")
				assert.Equal(t, []string{"one data changed"}, got.take())

				fault(s.On(zktest.OpGetData, "/node").Client("client"))
				_, _, stop, err := kit.Of(c).GetNotify(within(t, time.Millisecond), "/node", got.of("left"))
				if err == nil {
					stop()
				}
				time.Sleep(3 * time.Second)
				w := getWatch(t, c, "/node")
				remove(t, other, "/node")
				fired(t, w)
				assert.Empty(t, got.take())
			})
		})
	}
}

// The event may come before the answer is handed over: the caller knows of it when it
// has the answer.
func TestNotifyBeforeTheReadReturns(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		var got calls
		getNotify(t, c, "/node", got.of("one"))
		s.On(zktest.OpGetData, "/node").Client("client").Delay(time.Second)
		under := start(func() (func(), error) {
			_, _, stop, err := kit.Of(c).GetNotify(t.Context(), "/node", got.of("two"))
			return stop, err
		})
		synctest.Wait()
		set(t, other, "/node")
		assert.Equal(t, []string{"one data changed", "two data changed"}, got.take())
		time.Sleep(2 * time.Second)
		require.NoError(t, (<-under).err)
		remove(t, other, "/node")
		assert.Empty(t, got.take())
	})
}

// A read may succeed in the session after the one in which it began. Which of the two
// notifies is chance, but only one does.
func TestNotifyOfAReadThatIsRepeatedInTheNextSession(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		var got calls
		s.On(zktest.OpGetData, "/node").Client("client").After().Delay(time.Minute)
		first := c.Session()
		under := start(func() (func(), error) {
			_, _, stop, err := kit.Of(c).GetNotify(t.Context(), "/node", got.of("one"))
			return stop, err
		})
		synctest.Wait()
		s.ExpireSession(first.ID())
		require.NoError(t, (<-under).err)
		assert.NotSame(t, first, c.Session())
		remove(t, other, "/node")
		assert.Len(t, got.take(), 1)
	})
}
