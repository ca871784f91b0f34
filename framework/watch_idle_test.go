package framework_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// giveUp waits for each kind of change of a node, and gives up.
func giveUp(t *testing.T, c *framework.Client, path string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, _, _, err := c.GetWatch(ctx, path)
	require.NoError(t, err)
	_, _, _, err = c.ChildrenWatch(ctx, path)
	require.NoError(t, err)
	_, _, _, err = c.ExistsWatch(ctx, strings.TrimSuffix(path, "/")+"/none")
	require.NoError(t, err)
}

// kept asserts how many watches the client and the server remember.
func kept(t *testing.T, s *zktest.Server, c *framework.Client, atMost int) {
	t.Helper()
	synctest.Wait()
	assert.LessOrEqual(t, framework.KeptWatches(c), atMost)
	assert.LessOrEqual(t, s.Watches(), atMost)
}

func TestIdleWatchesAreRemoved(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		for i := range 200 {
			path := "/" + strconv.Itoa(i)
			_, err := c.Create(t.Context(), path, nil, framework.Persistent)
			require.NoError(t, err)
			giveUp(t, c, path)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(timeout / 12)
		kept(t, s, c, framework.IdleLimit)
		assert.Equal(t, framework.IdleLimit, s.Watches(), "the newest are kept for further reads")
		assert.Equal(t, 3*200-framework.IdleLimit, s.Count(zktest.OpRemoveWatches))
		time.Sleep(timeout + timeout/12)
		kept(t, s, c, 0)
		s.DropConnections("client")
		time.Sleep(time.Second)
		kept(t, s, c, 0)
		assert.Zero(t, s.Count(zktest.OpSetWatches), "the library has none to set again")
	})
}

func TestWatchesThatAreUsedAgainAreNotRemoved(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		for range 100 {
			giveUp(t, c, "/")
			time.Sleep(timeout / 3)
		}
		assert.Zero(t, s.Count(zktest.OpRemoveWatches))
		// One that is waited for stays, however long, and so does what is the same to
		// the server.
		_, _, w, err := c.ExistsWatch(t.Context(), "/")
		require.NoError(t, err)
		time.Sleep(5 * timeout)
		assert.Equal(t, 1, s.Watches())
		_, err = c.Set(t.Context(), "/", []byte("x"), framework.AnyVersion)
		require.NoError(t, err)
		assert.Equal(t, framework.EventDataChanged, (<-w.Events()).Type)
	})
}

// A server of before 3.5 does not know the request, says so, and hangs up.
func TestOldServersAreAskedOnceToRemoveAWatch(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		for range 3 {
			giveUp(t, c, "/")
			time.Sleep(2 * timeout)
		}
		assert.Equal(t, 1, s.Count(zktest.OpRemoveWatches))
		assert.NoError(t, c.Session().Err())
		assert.Equal(t, 3, s.Watches())
	}, zktest.WithUnsupported(zktest.OpRemoveWatches))
}

// Whatever happens to the request, and to its answer, a read that sets the watch again
// meanwhile gets an event for a change.
func TestRemovingAWatchDropsNoEvent(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*zktest.Rule){
		"slow request":    func(r *zktest.Rule) { r.Delay(300 * time.Millisecond) },
		"slow answer":     func(r *zktest.Rule) { r.After().Delay(300 * time.Millisecond) },
		"dropped request": func(r *zktest.Rule) { r.Cut() },
		"dropped answer":  func(r *zktest.Rule) { r.After().Cut() },
		"refused":         func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) },
		"no such watch":   func(r *zktest.Rule) { r.Fail(zktest.NoWatcher) },
		"session expired": func(r *zktest.Rule) { r.Expire() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c, other := connect(t, s), connectAs(t, s, "other")
				framework.KeepNoIdleWatches(c)
				rule := s.On(zktest.OpRemoveWatches, "/")
				fault(rule)
				ctx, cancel := context.WithCancel(t.Context())
				_, _, _, err := c.GetWatch(ctx, "/")
				require.NoError(t, err)
				cancel()
				<-rule.Fired()
				_, _, w, err := c.GetWatch(t.Context(), "/")
				require.NoError(t, err)
				if strings.HasPrefix(name, "slow") {
					synctest.Wait()
					assert.Empty(t, w.Events(), "the event for the library is no event of the watch")
				}
				_, err = other.Set(t.Context(), "/", []byte("x"), framework.AnyVersion)
				require.NoError(t, err)
				select {
				case <-w.Events():
				case <-time.After(time.Second):
					t.Error("no event for the change")
				}
				time.Sleep(2 * timeout)
				kept(t, s, c, 0)
			})
		})
	}
}

// Many reads wait for few nodes, some are given up, connections break: each change
// comes as an event to all that waited before it, on the connection or after the next.
func TestNoEventIsDroppedWhileWatchesAreRemoved(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				rnd := rand.New(rand.NewPCG(seed, 7))
				paths := []string{"/a", "/b", "/c", "/d"}
				var mu sync.Mutex
				n := func(n int) int { mu.Lock(); defer mu.Unlock(); return rnd.IntN(n) }
				c, writer := connect(t, s), connectAs(t, s, "writer")
				framework.KeepNoIdleWatches(c)
				for _, path := range paths {
					_, err := writer.Create(t.Context(), path, []byte("0"), framework.Persistent)
					require.NoError(t, err)
				}
				time.Sleep(50 * time.Millisecond)
				over, stop := context.WithCancel(t.Context())
				var all sync.WaitGroup
				told := 0
				var calm atomic.Bool // no read is given up any more
				for range 4 {
					all.Go(func() {
						for over.Err() == nil {
							path := paths[n(len(paths))]
							ctx, cancel := context.WithTimeout(over, time.Duration(1+n(8000))*time.Microsecond)
							if n(3) == 0 || calm.Load() {
								cancel()
								ctx, cancel = context.WithCancel(over)
							}
							var w *framework.Watch
							var err error
							var stat framework.Stat
							if n(2) == 0 {
								_, stat, w, err = c.GetWatch(ctx, path)
							} else {
								_, stat, w, err = c.ExistsWatch(ctx, path)
							}
							if err == nil {
								if _, heard := <-w.Events(); heard {
									mu.Lock()
									told++
									mu.Unlock()
								} else if info, ok := s.Node(path); over.Err() != nil && ok && info.Version != stat.Version {
									t.Errorf("%s has version %d, and who saw %d was told nothing", path, info.Version, stat.Version)
								}
							}
							cancel()
						}
					})
				}
				for range 300 {
					time.Sleep(time.Duration(n(10000)) * time.Microsecond)
					if n(30) == 0 {
						s.DropConnections("client")
					}
					_, err := writer.Set(t.Context(), paths[n(len(paths))], []byte("x"), framework.AnyVersion)
					require.NoError(t, err)
				}
				calm.Store(true)
				time.Sleep(3 * time.Second)
				stop()
				all.Wait()
				assert.Positive(t, told)
				assert.Positive(t, s.Count(zktest.OpRemoveWatches))
				time.Sleep(time.Second)
				kept(t, s, c, 0)
			})
		})
	}
}

// A server that refuses gets no further such request.
func TestAWatchStaysWhoseRemovalIsRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		framework.KeepNoIdleWatches(c)
		s.On(zktest.OpRemoveWatches, "/").Always().Fail(zktest.ThrottledOp)
		giveUp(t, c, "/")
		time.Sleep(timeout)
		assert.LessOrEqual(t, s.Count(zktest.OpRemoveWatches), 50)
		assert.Positive(t, s.Count(zktest.OpRemoveWatches))
	})
}

// give waits for a change of the root, and gives up.
func give(t *testing.T, c *framework.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, _, _, err := c.GetWatch(ctx, "/")
	require.NoError(t, err)
}

// hears asserts that a watch that is set now fires for a change of the root.
func hears(t *testing.T, c, other *framework.Client) {
	t.Helper()
	_, _, w, err := c.GetWatch(t.Context(), "/")
	require.NoError(t, err)
	_, err = other.Set(t.Context(), "/", []byte("x"), framework.AnyVersion)
	require.NoError(t, err)
	select {
	case <-w.Events():
	case <-time.After(time.Second):
		t.Error("no event for the change")
	}
}

func TestAWatchFiresWhileItIsRemoved(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c, other := connect(t, s), connectAs(t, s, "other")
		framework.KeepNoIdleWatches(c)
		slow := s.On(zktest.OpRemoveWatches, "/")
		slow.Delay(300 * time.Millisecond)
		give(t, c)
		<-slow.Fired()
		_, err := other.Set(t.Context(), "/", nil, framework.AnyVersion)
		require.NoError(t, err)
		time.Sleep(400 * time.Millisecond) // the server finds no such watch
		hears(t, c, other)
	})
}

// It is not set again on the next connection, whatever the server has done.
func TestAWatchIsRemovedAfterABreak(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*zktest.Rule){
		"request": func(r *zktest.Rule) { r.Cut() },
		"answer":  func(r *zktest.Rule) { r.After().Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c, other := connect(t, s), connectAs(t, s, "other")
				framework.KeepNoIdleWatches(c)
				rule := s.On(zktest.OpRemoveWatches, "/")
				fault(rule)
				give(t, c)
				<-rule.Fired()
				time.Sleep(timeout)
				kept(t, s, c, 0)
				assert.Zero(t, s.Count(zktest.OpSetWatches))
				hears(t, c, other)
			})
		})
	}
}
