package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// watching runs a test with two clients and a node /node that both may change.
func watching(t *testing.T, test func(t *testing.T, s *zktest.Server, c, other *framework.Client), settings ...setting) {
	t.Helper()
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		other := connectAs(t, s, "other")
		_, err := other.Create(t.Context(), "/node", nil, framework.Persistent)
		require.NoError(t, err)
		test(t, s, connect(t, s, settings...), other)
	})
}

func getWatch(t *testing.T, c *framework.Client, path string) *framework.Watch {
	t.Helper()
	_, _, w, err := c.GetWatch(t.Context(), path)
	require.NoError(t, err)
	return w
}

func existsWatch(t *testing.T, c *framework.Client, path string) *framework.Watch {
	t.Helper()
	_, _, w, err := c.ExistsWatch(t.Context(), path)
	require.NoError(t, err)
	return w
}

func childrenWatch(t *testing.T, c *framework.Client, path string) *framework.Watch {
	t.Helper()
	_, _, w, err := c.ChildrenWatch(t.Context(), path)
	require.NoError(t, err)
	return w
}

// fired returns the event that a watch has at this moment.
func fired(t *testing.T, w *framework.Watch) framework.Event {
	t.Helper()
	select {
	case ev, ok := <-w.Events():
		require.True(t, ok, "closed without an event")
		_, ok = <-w.Events()
		require.False(t, ok, "a second event")
		return ev
	default:
		t.Fatal("no event")
	}
	return framework.Event{}
}

func silent(t *testing.T, w *framework.Watch) {
	t.Helper()
	select {
	case ev, ok := <-w.Events():
		t.Fatalf("event %v, %v", ev, ok)
	default:
	}
}

func set(t *testing.T, c *framework.Client, path string) {
	t.Helper()
	_, err := c.Set(t.Context(), path, []byte("x"), framework.AnyVersion)
	require.NoError(t, err)
	synctest.Wait()
}

func create(t *testing.T, c *framework.Client, path string) {
	t.Helper()
	_, err := c.Create(t.Context(), path, nil, framework.Persistent)
	require.NoError(t, err)
	synctest.Wait()
}

func remove(t *testing.T, c *framework.Client, path string) {
	t.Helper()
	require.NoError(t, c.Delete(t.Context(), path, framework.AnyVersion))
	synctest.Wait()
}

func TestWatchEvents(t *testing.T) {
	type watch = func(t *testing.T, c *framework.Client, path string) *framework.Watch
	type change = func(t *testing.T, c *framework.Client, path string)
	for name, tc := range map[string]struct {
		set    watch
		path   string
		change change
		at     string
		want   framework.EventType
	}{
		"data set":                      {getWatch, "/node", set, "/node", framework.EventDataChanged},
		"data of a node deleted":        {getWatch, "/node", remove, "/node", framework.EventDeleted},
		"existing node set":             {existsWatch, "/node", set, "/node", framework.EventDataChanged},
		"existing node deleted":         {existsWatch, "/node", remove, "/node", framework.EventDeleted},
		"missing node created":          {existsWatch, "/new", create, "/new", framework.EventCreated},
		"child created":                 {childrenWatch, "/node", create, "/node/child", framework.EventChildrenChanged},
		"parent deleted":                {childrenWatch, "/node", remove, "/node", framework.EventDeleted},
		"data watch, child created":     {getWatch, "/node", create, "/node/child", 0},
		"child watch, data set":         {childrenWatch, "/node", set, "/node", 0},
		"missing node, sibling created": {existsWatch, "/new", create, "/new2", 0},
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, func(t *testing.T, _ *zktest.Server, c, other *framework.Client) {
				w := tc.set(t, c, tc.path)
				silent(t, w)
				tc.change(t, other, tc.at)
				if tc.want == 0 {
					silent(t, w)
					return
				}
				assert.Equal(t, framework.Event{Type: tc.want}, fired(t, w))
			}, func(*framework.Config) {})
		})
	}
}

// Scenario 26, CURATOR-527: an event between the read and the wait is kept.
func TestWatchKeepsAnEventThatCameBeforeTheWait(t *testing.T) {
	watching(t, func(t *testing.T, _ *zktest.Server, c, other *framework.Client) {
		w := getWatch(t, c, "/node")
		remove(t, other, "/node")
		time.Sleep(time.Minute)
		assert.Equal(t, framework.EventDeleted, fired(t, w).Type)
	})
}

func TestWatchIsSharedByAllWhoWaitForANode(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		var all []*framework.Watch
		for range 50 {
			all = append(all, getWatch(t, c, "/node"), existsWatch(t, c, "/node"), childrenWatch(t, c, "/node"))
		}
		assert.Equal(t, 2, s.Watches(), "one for the data, one for the children")
		marked := 0
		for _, e := range s.Trace() {
			if e.Client == "client" && e.Watch && e.Action == zktest.Pass {
				marked++
			}
		}
		assert.Equal(t, 3, marked, "later reads are plain ones")
		create(t, other, "/node/child")
		remove(t, other, "/node/child")
		remove(t, other, "/node")
		for i, w := range all {
			want := framework.EventDeleted
			if i%3 == 2 {
				want = framework.EventChildrenChanged
			}
			assert.Equal(t, want, fired(t, w).Type)
		}
		assert.Zero(t, s.Watches())
	})
}

func TestWatchIsSetAgainAfterItsEvent(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		for range 20 {
			one, two := getWatch(t, c, "/node"), getWatch(t, c, "/node")
			assert.Equal(t, 1, s.Watches())
			set(t, other, "/node")
			fired(t, one)
			fired(t, two)
			assert.Zero(t, s.Watches())
		}
	})
}

// Scenario 24: nothing is left on the server by a read that found no node.
func TestGetWatchOfAMissingNodeSetsNone(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		_, _, w, err := c.GetWatch(t.Context(), "/missing")
		require.ErrorIs(t, err, framework.ErrNoNode)
		assert.Nil(t, w)
		_, _, w, err = c.ChildrenWatch(t.Context(), "/missing")
		require.ErrorIs(t, err, framework.ErrNoNode)
		assert.Nil(t, w)
		assert.Zero(t, s.Watches())
		create(t, other, "/missing")
		w = getWatch(t, c, "/missing")
		assert.Equal(t, 1, s.Watches(), "what failed is not mistaken for a watch")
		set(t, other, "/missing")
		fired(t, w)
	})
}

func TestWatchIsClosedWhenTheContextEnds(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		_, _, left, err := c.GetWatch(ctx, "/node")
		require.NoError(t, err)
		stays := getWatch(t, c, "/node")
		cancel()
		synctest.Wait()
		_, ok := <-left.Events()
		assert.False(t, ok)
		silent(t, stays)
		assert.Equal(t, 1, s.Watches())
		set(t, other, "/node")
		fired(t, stays)
	})
}

// A second wait for a node after one was given up uses the watch that is there.
func TestAbandonedWatchIsUsedAgain(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			_, _, _, err := c.GetWatch(ctx, "/node")
			require.NoError(t, err)
			cancel()
			synctest.Wait()
		}
		assert.Equal(t, 1, s.Watches())
		w := getWatch(t, c, "/node")
		set(t, other, "/node")
		fired(t, w)
	})
}

// An event without a waiter must not leave the watch recorded as set.
func TestAbandonedWatchThatFiredIsSetAgain(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		_, _, _, err := c.GetWatch(ctx, "/node")
		require.NoError(t, err)
		cancel()
		synctest.Wait()
		set(t, other, "/node")
		assert.Zero(t, s.Watches())
		w := getWatch(t, c, "/node")
		assert.Equal(t, 1, s.Watches())
		set(t, other, "/node")
		fired(t, w)
	})
}

func TestWatchOfAReadThatWasAbandonedInFlight(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		s.On(zktest.OpGetData, "/node").After().Delay(time.Second)
		_, _, w, err := c.GetWatch(within(t, 500*time.Millisecond), "/node")
		require.ErrorIs(t, err, errStopped)
		assert.Nil(t, w)
		time.Sleep(time.Second)
		assert.Equal(t, 1, s.Watches())
		w = getWatch(t, c, "/node")
		assert.Equal(t, 1, s.Watches())
		set(t, other, "/node")
		fired(t, w)
	})
}

func TestWatchEndsWithTheSession(t *testing.T) {
	for name, tc := range map[string]struct {
		end func(s *zktest.Server, c *framework.Client)
		why error
	}{
		"expired": {func(s *zktest.Server, c *framework.Client) { s.ExpireSession(c.Session().ID()) }, framework.ErrSessionExpired},
		"given up": {func(s *zktest.Server, _ *framework.Client) {
			s.Partition("client", true)
			time.Sleep(timeout)
			s.Partition("client", false)
		}, framework.ErrTrustExpired},
		"closed": {func(_ *zktest.Server, c *framework.Client) { c.Close() }, framework.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, func(t *testing.T, s *zktest.Server, c, _ *framework.Client) {
				watches := []*framework.Watch{
					getWatch(t, c, "/node"), existsWatch(t, c, "/missing"), childrenWatch(t, c, "/node"), getWatch(t, c, "/node"),
				}
				tc.end(s, c)
				time.Sleep(2 * time.Second)
				for _, w := range watches {
					ev := fired(t, w)
					assert.Equal(t, framework.EventSessionEnded, ev.Type)
					assert.ErrorIs(t, ev.Err, tc.why)
				}
				assert.Zero(t, s.Watches())
			})
		})
	}
}

func TestExpiryWithThousandsOfWatches(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, _ *framework.Client) {
		const n = 2000
		paths := manyNodes(t, c, n)
		watches := make([]*framework.Watch, n)
		for i, path := range paths {
			watches[i] = getWatch(t, c, path)
		}
		require.Equal(t, n, s.Watches())
		begun := time.Now()
		s.ExpireSession(c.Session().ID())
		for _, w := range watches {
			assert.Equal(t, framework.EventSessionEnded, (<-w.Events()).Type)
		}
		_, err := c.AwaitSession(t.Context())
		require.NoError(t, err)
		assert.Less(t, time.Since(begun), time.Second)
	})
}

// manyNodes makes nodes with long names, in few requests.
func manyNodes(t *testing.T, c *framework.Client, n int) []string {
	t.Helper()
	var paths []string
	var ops []framework.Op
	for i := range n {
		path := "/" + time.Duration(i).String() + "-" + string(make90)
		paths = append(paths, path)
		ops = append(ops, framework.CreateOp(path, nil, framework.Persistent))
		if len(ops) == 500 || i == n-1 {
			_, err := c.Multi(t.Context(), ops...)
			require.NoError(t, err)
			ops = nil
		}
	}
	return paths
}

var make90 = func() []byte {
	b := make([]byte, 90)
	for i := range b {
		b[i] = 'x'
	}
	return b
}()
