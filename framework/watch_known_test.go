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

// knowing runs a test with a function that returns what GetKnown does, in the present
// session of the client, and how many reads that took.
func knowing(t *testing.T, test func(t *testing.T, s *zktest.Server, c, other *framework.Client, get func() (string, int))) {
	t.Helper()
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		test(t, s, c, other, func() (string, int) {
			before := s.Count(zktest.OpGetData)
			data, _, err := kit.Of(kit.Of(c).Within(c.Session())).GetKnown(t.Context(), "/node")
			require.NoError(t, err)
			synctest.Wait()
			return string(data), s.Count(zktest.OpGetData) - before
		})
	})
}

func write(t *testing.T, c *framework.Client, data string) {
	t.Helper()
	_, err := c.Set(t.Context(), "/node", []byte(data), framework.AnyVersion)
	require.NoError(t, err)
	synctest.Wait() // for the events
}

func TestKnownDataCostNothing(t *testing.T) {
	knowing(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client, get func() (string, int)) {
		expect := func(data string, reads int) {
			t.Helper()
			got, n := get()
			assert.Equal(t, data, got)
			assert.Equal(t, reads, n)
		}
		write(t, other, "one")
		expect("one", 1)
		for range 20 {
			time.Sleep(timeout / 2)
			expect("one", 0)
		}
		assert.Equal(t, 1, s.Watches())
		write(t, other, "two")
		expect("two", 1)
		write(t, c, "three")
		expect("three", 1)
		expect("three", 0)
		remove(t, other, "/node")
		_, _, err := kit.Of(kit.Of(c).Within(c.Session())).GetKnown(t.Context(), "/node")
		require.ErrorIs(t, err, framework.ErrNoNode)
		create(t, other, "/node")
		write(t, other, "four")
		expect("four", 1)

		// Watches of others neither end it nor keep what they have not read.
		w := getWatch(t, c, "/node")
		expect("four", 0)
		write(t, other, "five")
		assert.Len(t, w.Events(), 1)
		getWatch(t, c, "/node")
		expect("five", 1)
		expect("five", 0)

		time.Sleep(2 * timeout) // one watch is left, of a context that has not ended
		expect("five", 0)
	})
}

// The watch is removed when the data were not asked for during a session timeout.
func TestKnownDataAreForgotten(t *testing.T) {
	knowing(t, func(t *testing.T, s *zktest.Server, _, other *framework.Client, get func() (string, int)) {
		get()
		time.Sleep(timeout + timeout/4)
		assert.Zero(t, s.Watches())
		write(t, other, "later")
		data, reads := get()
		assert.Equal(t, "later", data)
		assert.Equal(t, 1, reads)
	})
}

// What has changed while the client was not connected is not known any more.
func TestKnownDataOfAnotherConnection(t *testing.T) {
	knowing(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client, get func() (string, int)) {
		for _, watched := range []bool{false, true} { // by another waiter, for which the watch is set again
			for _, changed := range []bool{false, true} {
				write(t, other, "before")
				get()
				if watched {
					getWatch(t, c, "/node")
				}
				s.Partition("client", true)
				want := "before"
				if changed {
					want = "after"
					write(t, other, want)
				}
				time.Sleep(timeout / 4)
				s.Partition("client", false)
				require.NoError(t, c.Sync(t.Context(), "/node"))
				data, _ := get()
				assert.Equal(t, want, data)
			}
		}
	})
}

// The node is changed at any moment of a read: what is known then is not older than
// what the session has seen by then.
func TestDataChangeWhileTheyBecomeKnown(t *testing.T) {
	knowing(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client, get func() (string, int)) {
		for _, phase := range []zktest.Phase{zktest.PhaseBeforeApply, zktest.PhaseAfterApply} {
			write(t, other, "old")
			rule := s.On(zktest.OpGetData, "/node").Client("client")
			if phase == zktest.PhaseAfterApply {
				rule.After()
			}
			rule.Delay(time.Second)
			var reads sync.WaitGroup
			for range 3 {
				reads.Go(func() {
					_, _, err := kit.Of(kit.Of(c).Within(c.Session())).GetKnown(t.Context(), "/node")
					assert.NoError(t, err)
				})
			}
			<-rule.Fired()
			write(t, other, "new")
			reads.Wait()
			require.NoError(t, c.Sync(t.Context(), "/node"))
			data, _ := get()
			assert.Equal(t, "new", data, "phase %v", phase)
		}
	})
}

func TestKnownDataOfASessionThatIsOver(t *testing.T) {
	knowing(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client, get func() (string, int)) {
		get()
		view := kit.Of(kit.Of(c).Within(c.Session()))
		require.True(t, s.ExpireSession(c.Session().ID()))
		<-c.Session().Done()
		_, _, err := view.GetKnown(t.Context(), "/node")
		require.ErrorIs(t, err, framework.ErrSessionLost)
	})
}

// The events for what was missed while there was no connection come in no order. None
// of them finds data known that were changed before that: also if another caller waits
// at the same watch, which is why the server is asked to set it again.
func TestKnownDataDoNotOutliveTheirConnection(t *testing.T) {
	watching(t, func(t *testing.T, s *zktest.Server, c, other *framework.Client) {
		pinned := kit.Of(kit.Of(c).Within(c.Session()))
		ended, cancel := context.WithCancel(t.Context())
		cancel() // with this nothing is sent
		stale := 0
		for round := range 8 {
			write(t, other, "old")
			getWatch(t, c, "/node")
			_, _, err := pinned.GetKnown(t.Context(), "/node")
			require.NoError(t, err)
			for i := range 20 {
				node := fmt.Sprint("/later", round, "-", i)
				create(t, other, node)
				getNotify(t, c, node, func(ev framework.Event) {
					if data, _, err := pinned.GetKnown(ended, "/node"); ev.Type == framework.EventDeleted && err == nil && string(data) == "old" {
						stale++
					}
				})
			}
			suspend(s, "client")
			write(t, other, "new")
			for i := range 20 {
				remove(t, other, fmt.Sprint("/later", round, "-", i))
			}
			reach(s, "client")
			synctest.Wait()
		}
		require.Zero(t, stale, "times the session knew of a deletion, and not of the change before that")
	})
}
