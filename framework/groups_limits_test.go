package framework_test

import (
	"context"
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

// What the session sends after a release that is handed over comes behind its delete. A
// group that is refused would be repeated behind it.
func TestReleaseThatIsHandedOverTravelsAlone(t *testing.T) {
	withOwn(t, alone+4, func(t *testing.T, p own) {
		nodes := p.made(t, upTo(alone+4)...)
		over := false
		stop := kit.Of(p.Client).OnDeleted(p.Session(), parent(alone+3), listener{over: func(string, <-chan struct{}) { over = true }})
		defer stop()
		p.server.ResetCounts()
		var release <-chan result[struct{}]
		all := held(p, func() []<-chan result[struct{}] {
			var all []<-chan result[struct{}]
			for _, node := range nodes[:alone+3] {
				all = append(all, p.remove(node))
				synctest.Wait()
			}
			release = startErr(func() error { return kit.Of(p.Client).Release(t.Context(), nodes[alone+3].Path) })
			synctest.Wait()
			return all
		})
		assert.True(t, over, "it has its place at once")
		for _, done := range append(all, release) {
			require.NoError(t, (<-done).err)
		}
		assert.Equal(t, alone+1+1, p.server.Count(zktest.OpDelete))
	})
}

// A group is no larger than a request may be.
func TestGroupsAreNotTooLarge(t *testing.T) {
	withOwn(t, alone+7, func(t *testing.T, p own) {
		p.data = []byte(strings.Repeat("x", 300))
		for i, done := range p.creates(t, upTo(alone+7)...) {
			p.isThere(t, i, <-done)
		}
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreate: alone + 1, zktest.OpMulti: 3}, requests(p.server), "in each two")
	}, func(cfg *framework.Config) { cfg.MaxRequestBytes = 1000 })
}

// Paths that the client has not used lately may be missing.
func TestPathsThatAreNotKnownStayOut(t *testing.T) {
	withOwn(t, alone+3, func(t *testing.T, p own) {
		for i := range alone + 3 {
			kit.Of(p.Client).RecordParent(parent(i), false)
		}
		for i, done := range p.creates(t, upTo(alone+3)...) {
			p.isThere(t, i, <-done)
		}
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreate: alone + 3}, requests(p.server))
	})
}

// Where more deletes come than a group has room for, creates do not wait for all of
// them.
func TestDeletesPassCreatesOnce(t *testing.T) {
	const many = alone + 1 + 64*8
	withOwn(t, many+2, func(t *testing.T, p own) {
		nodes := p.made(t, upTo(many)...)
		var created <-chan result[framework.Created]
		all := held(p, func() []<-chan result[struct{}] {
			var all []<-chan result[struct{}]
			for _, node := range nodes {
				all = append(all, p.remove(node))
			}
			synctest.Wait()
			created = p.create(within(t, time.Minute), many)
			return all
		})
		r := <-created
		p.isThere(t, many, r)
		for _, done := range all {
			require.NoError(t, (<-done).err)
		}
		last := <-p.create(within(t, time.Minute), many+1)
		require.NoError(t, last.err)
		assert.Greater(t, last.value.Czxid-r.value.Czxid, int64(5), "groups of deletes come behind it")
	})
}

// A release for which nobody waits is a delete as any other.
func TestReleasesThatNobodyWaitsForTravelTogether(t *testing.T) {
	for name, release := range map[string]func(c *framework.Client, path string) error{
		"waits":         func(c *framework.Client, path string) error { return kit.Of(c).Release(context.Background(), path) },
		"does not wait": sendRelease,
	} {
		t.Run(name, func(t *testing.T) {
			withOwn(t, alone+4, func(t *testing.T, p own) {
				nodes := p.made(t, upTo(alone+4)...)
				p.server.ResetCounts()
				for _, done := range p.releases(nodes, release) {
					require.NoError(t, (<-done).err)
				}
				assert.Equal(t, map[zktest.Op]int{zktest.OpDelete: alone + 1, zktest.OpMulti: 1}, requests(p.server))
			})
		})
	}
}

// sendRelease sends a release, and then waits for the answer.
func sendRelease(c *framework.Client, path string) error {
	answer := make(chan error, 2)
	if !kit.Of(c.In(c.Session())).SendDelete(context.Background(), path, true, func(err error) { answer <- err }) {
		return errStopped
	}
	return <-answer
}

// releases releases nodes while the server answers nothing.
func (p own) releases(nodes []framework.Created, release func(c *framework.Client, path string) error) []<-chan result[struct{}] {
	return held(p, func() (all []<-chan result[struct{}]) {
		for _, node := range nodes {
			all = append(all, startErr(func() error { return release(p.Client, node.Path) }))
			synctest.Wait()
		}
		return all
	})
}

// What does not wait for the answer, and is in the queue when the connection breaks,
// goes on in the background.
func TestReleasesAtOnceSurviveTheirConnection(t *testing.T) {
	withOwn(t, alone+4, func(t *testing.T, p own) {
		nodes := p.made(t, upTo(alone+4)...)
		p.server.Stall("", true)
		var all []<-chan result[struct{}]
		for _, node := range nodes {
			all = append(all, startErr(func() error { return sendRelease(p.Client, node.Path) }))
			synctest.Wait()
		}
		p.server.DropConnections("")
		p.server.Stall("", false)
		for _, done := range all {
			require.ErrorIs(t, (<-done).err, framework.ErrUnknownOutcome)
		}
		time.Sleep(timeout)
		for i := range nodes {
			assert.Empty(t, p.server.Children(p.FullPath(parent(i))))
		}
	})
}
