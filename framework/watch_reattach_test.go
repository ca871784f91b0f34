package framework_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestWatchesSurviveAReconnect(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		session := c.Session()
		watches := []*framework.Watch{getWatch(t, c, "/node"), existsWatch(t, c, "/new"), childrenWatch(t, c, "/node")}
		s.DropConnections("client")
		time.Sleep(time.Second)
		for _, w := range watches {
			silent(t, w)
		}
		set(t, other, "/node")
		create(t, other, "/new")
		create(t, other, "/node/child")
		for i, want := range []framework.EventType{framework.EventDataChanged, framework.EventCreated, framework.EventChildrenChanged} {
			assert.Equal(t, want, fired(t, watches[i]).Type)
		}
		assert.NoError(t, session.Err())
	})
}

// K-4: the change happens while the client is not connected.
func TestWatchesReportWhatHappenedWhileSuspended(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		session := c.Session()
		watches := []*framework.Watch{getWatch(t, c, "/node"), existsWatch(t, c, "/new"), childrenWatch(t, c, "/")}
		suspend(s, "client")
		create(t, other, "/new")
		remove(t, other, "/node")
		for _, w := range watches {
			silent(t, w)
		}
		reach(s, "client")
		for i, want := range []framework.EventType{framework.EventDeleted, framework.EventCreated, framework.EventChildrenChanged} {
			assert.Equal(t, want, fired(t, watches[i]).Type)
		}
		assert.NoError(t, session.Err())
	})
}

// After a re-attachment no read shows a change before the event for it.
func TestNoReadIsAnsweredBeforeTheWatchEvent(t *testing.T) {
	for name, delay := range map[string]time.Duration{"at once": 0, "slowly": 300 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
				if delay > 0 {
					s.On(zktest.OpSetWatches, "").Delay(delay)
				}
				w := getWatch(t, c, "/node")
				suspend(s, "client")
				set(t, other, "/node")
				read := start(func() ([]byte, error) {
					data, _, err := c.Get(t.Context(), "/node")
					if len(w.Events()) == 0 {
						t.Error("read before the event")
					}
					return data, err
				})
				synctest.Wait()
				reach(s, "client")
				r := <-read
				require.NoError(t, r.err)
				assert.Equal(t, "x", string(r.value))
			})
		})
	}
}

// The library sets many watches again in several requests, one after the other.
func TestNoReadIsAnsweredBeforeTheLastOfManyWatchesIsSetAgain(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		const n = 3000 // about 300 KB
		paths := manyNodes(t, other, n)
		watches := make([]*framework.Watch, n)
		for i, path := range paths {
			watches[i] = getWatch(t, c, path)
		}
		s.On(zktest.OpSetWatches, "").Always().Delay(50 * time.Millisecond)
		suspend(s, "client")
		for from := 0; from < n; from += 500 {
			var ops []framework.Op
			for _, path := range paths[from : from+500] {
				ops = append(ops, framework.SetOp(path, []byte("x"), framework.AnyVersion))
			}
			_, err := other.Multi(t.Context(), ops...)
			require.NoError(t, err)
		}
		var reads sync.WaitGroup
		early := make(chan string, n)
		for i := 0; i < n; i += 50 {
			reads.Go(func() {
				_, _, err := c.Get(t.Context(), paths[i])
				if err != nil || len(watches[i].Events()) == 0 {
					early <- paths[i]
				}
			})
		}
		synctest.Wait()
		reach(s, "client")
		reads.Wait()
		assert.Greater(t, s.Count(zktest.OpSetWatches), 1)
		assert.Zero(t, len(early), "reads that came before the event") //nolint:testifylint // it is a channel
		for _, w := range watches {
			assert.Equal(t, framework.EventDataChanged, fired(t, w).Type)
		}
	})
}

func TestWatchesThatCannotBeSetAgainAskForARecheck(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		w, w2 := getWatch(t, c, "/node"), childrenWatch(t, c, "/node")
		s.On(zktest.OpSetWatches, "").Fail(zktest.RuntimeInconsistency)
		s.DropConnections("client")
		time.Sleep(time.Second)
		assert.Equal(t, framework.Event{Type: framework.EventRecheck}, fired(t, w))
		assert.Equal(t, framework.Event{Type: framework.EventRecheck}, fired(t, w2))
		assert.NoError(t, c.Session().Err())
		w = getWatch(t, c, "/node")
		set(t, other, "/node")
		assert.Equal(t, framework.EventDataChanged, fired(t, w).Type)
	})
}

// The connection breaks again while the watches are being set again.
func TestWatchesSurviveReconnectsInARow(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		session := c.Session()
		w := getWatch(t, c, "/node")
		s.On(zktest.OpSetWatches, "").Cut()
		s.On(zktest.OpSetWatches, "").After().Cut() // of the second, as the first was not applied
		s.On(zktest.OpSetWatches, "").Nth(3).DropReply()
		s.DropConnections("client")
		time.Sleep(timeout / 2)
		_, _, err := c.Exists(t.Context(), "/")
		require.NoError(t, err)
		silent(t, w)
		set(t, other, "/node")
		assert.Equal(t, framework.EventDataChanged, fired(t, w).Type)
		assert.NoError(t, session.Err())
	})
}

// With no watch left to set again, requests must not wait long after a reconnect.
func TestReconnectAfterAllWatchesHaveFired(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		w := getWatch(t, c, "/node")
		set(t, other, "/node")
		fired(t, w)
		suspend(s, "client")
		s.RefuseConnections("client", false)
		down := c.Session().Suspended()
		<-down
		r := <-startErr(func() error { _, _, err := c.Exists(t.Context(), "/"); return err })
		require.NoError(t, r.err)
		assert.Less(t, r.took, 200*time.Millisecond)
	})
}

// Everything at once, for the race detector: reads, watches, changes, credentials and
// connections that break.
func TestWatchesUnderReconnectsAndLoad(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		stop := make(chan struct{})
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					_, _, w, err := c.GetWatch(t.Context(), "/node")
					if err != nil {
						t.Error(err)
						return
					}
					select {
					case <-w.Events():
					case <-time.After(50 * time.Millisecond):
					}
				}
			})
		}
		workers.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(11 * time.Millisecond):
				}
				if _, err := other.Set(t.Context(), "/node", nil, framework.AnyVersion); err != nil {
					t.Error(err)
				}
			}
		})
		for range 8 {
			time.Sleep(1100 * time.Millisecond)
			s.DropConnections("client")
		}
		close(stop)
		workers.Wait()
		assert.NoError(t, c.Session().Err())
	}, func(cfg *framework.Config) {
		cfg.Auth = []framework.Credential{framework.DigestAuth("user", "password")}
	})
}
